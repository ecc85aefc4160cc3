#include "process/takeover_server.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <chrono>
#include <exception>
#include <span>
#include <utility>

#include "base/clock.hpp"
#include "net/descriptor.hpp"
#include "process/inherited_sockets.hpp"

namespace seriesgate {
namespace {

using namespace std::chrono_literals;
using clock = monotonic_clock;

/// Between two polls for messages and open requests.
constexpr auto poll_interval = 5ms;
/// A failed process closes its connection shortly before it releases its lock.
constexpr auto lock_patience = 2s;

/// After a failed accept, for example without descriptors.
constexpr auto accept_pause = 100ms;

constexpr const char* is_gone = "the new process has ended it";
constexpr const char* is_late = "the new process has not answered in time: its log says what it waits for";

}  // namespace

std::optional<message_listener> open_takeover_socket(const config& settings, bool was_left) {
    const std::string path = takeover_path(settings);
    if (path.empty()) return std::nullopt;
    try {
        return message_listener{path, was_left ? message_listener::place::given_up : message_listener::place::free};
    } catch (const boost::system::system_error& error) {
        log::warn("no other gate can take this one's place",
                  {{"path", path}, {"err", error.code().message() + foreign_owner(path)}});
        return std::nullopt;
    }
}

/// One conversation with a new process.
struct takeover_server::talk {
    message_socket other;
    clock::time_point waits_since = clock::now();

    explicit talk(message_socket with) : other(std::move(with)) {}

    /// @return the fault, unless exactly this message came in time.
    net::awaitable<const char*> hear(std::string_view word, clock::duration limit) {
        const auto end = clock::now() + limit;
        for (;;) {
            const auto got = other.receive();
            if (got) co_return got->text == word ? nullptr : is_gone;
            if (got.error() != net::error::would_block) co_return is_gone;
            if (clock::now() >= end) co_return is_late;
            co_await sleep_for(poll_interval);
        }
    }

    /// Sends `wait` about once a second. @return false if the peer is gone or has sent anything.
    bool say_wait() {
        const auto got = other.receive();
        if (got || got.error() != net::error::would_block) return false;  // no message is due now
        if (clock::now() - waits_since < takeover::wait_interval) return true;
        waits_since = clock::now();
        return !other.send(takeover::wait);
    }
};

net::awaitable<void> takeover_server::run() {
    net::io_context& io = of_.serving.acceptor.thread.io;
    // Begun again: memory ran out amid one.
    if (of_.serving.acceptor.thread.shared.life.in_takeover()) co_await go_on();
    descriptor watched{::dup(at_.native_handle())};  // its owner if the event loop cannot take it
    net::posix::stream_descriptor somebody{io, watched.get()};
    watched.release();
    for (;;) {
        auto [failed] = co_await somebody.async_wait(net::posix::stream_descriptor::wait_read, no_throw);
        if (failed) co_return;
        auto came = at_.accept();
        if (!came) {
            if (came.error() == net::error::would_block) continue;
            note_refusal(came.error().message());
            co_await sleep_for(accept_pause);  // the new process still waits
            continue;
        }
        talk with{std::move(*came)};
        std::string why_not = co_await hand_to(with);
        if (why_not.empty()) co_return of_.is_over();
        if (with.other.open()) static_cast<void>(with.other.send(fmt::format("{}{}", takeover::no, why_not)));
        note_refusal(why_not);
    }
}

void takeover_server::note_refusal(std::string_view why) {
    if (const auto times = refusals_.count(1))
        log::warn("the place was not handed over", {{"times", *times}, {"err", why}});
}

net::awaitable<std::string> takeover_server::hand_to(talk& with) {
    lifecycle& life = of_.serving.acceptor.thread.shared.life;
    const uid_t user = with.other.peer_user();
    if (user != ::geteuid() && user != 0) co_return fmt::format("it is a process of the user {}", user);
    if (co_await with.hear(takeover::hello, takeover::answer_limit) != nullptr)
        co_return "whoever asked speaks another protocol, or is too slow";
    if (life.stage() != lifecycle_state::ready) co_return "this one is not ready, or shuts down";
    std::string fault = co_await offer_sockets(with);
    if (!fault.empty()) co_return fault;
    if (!life.hand_over()) co_return "this one shuts down";

    log::info("handing over to another process");
    try {
        fault = co_await give_all(with);
    } catch (const std::exception& error) {  // out of memory
        fault = error.what();
    }
    if (!fault.empty()) {
        static_cast<void>(with.other.send(fmt::format("{}{}", takeover::no, fault)));
        with.other.close();  // before reclaiming the lock
        co_await go_on();
    }
    co_return fault;
}

net::awaitable<std::string> takeover_server::give_all(talk& with) {
    stop_taking();
    std::string fault = co_await finish_requests(with);
    if (!fault.empty()) co_return fault;
    fault = co_await save(with);
    if (fault.empty()) fault = co_await give_place(with);
    co_return fault;
}

/// Changes nothing yet: the new process may fail to listen at its own addresses.
net::awaitable<std::string> takeover_server::offer_sockets(talk& with) {
    const auto offer = [&with](server& one, std::string_view name) {
        const int descriptor = one.native_handle();
        const std::string text =
            fmt::format("{}{}{}", takeover::socket, name, one.has_file() ? takeover::with_file : "");
        return with.other.send(text, std::span{&descriptor, 1});
    };
    error_code failed = offer(of_.serving.senders, gate_socket_name);
    if (!failed && of_.serving.admin_server != nullptr) failed = offer(*of_.serving.admin_server, admin_socket_name);
    if (!failed) failed = with.other.send(takeover::that_is_all);
    if (failed) co_return failed.message();
    const char* const fault = co_await with.hear(takeover::go, takeover::answer_limit);
    co_return fault == nullptr ? "" : fault;
}

void takeover_server::on_all_threads(const std::function<void(worker&)>& what) {
    what(of_.serving.acceptor.thread);
    for (const auto& each : of_.serving.workers)
        net::post(each->thread.io, [&thread = each->thread, what] { what(thread); });
}

void takeover_server::on_servers(void (server::*what)()) {
    (of_.serving.senders.*what)();
    if (of_.serving.admin_server != nullptr) (of_.serving.admin_server->*what)();
}

void takeover_server::stop_taking() {
    on_servers(&server::pause);
    const auto grace = sender_grace(of_.serving.acceptor.thread.shared.settings.drain_timeout);
    on_all_threads([grace](worker& thread) {
        thread.senders.wake_idle();
        thread.senders.shorten_timeouts(grace);
    });
}

bool takeover_server::accepts() const {
    return of_.serving.senders.accepts() ||
           (of_.serving.admin_server != nullptr && of_.serving.admin_server->accepts());
}

/// Waits until every connection is closed.
net::awaitable<std::string> takeover_server::finish_requests(talk& with) {
    const http_shared& shared = of_.serving.acceptor.thread.shared;
    const auto is_done = [&] {
        const bool is_quiet =
            of_.serving.senders.connections().open_count() == 0 &&
            (of_.serving.admin_server == nullptr || of_.serving.admin_server->connections().open_count() == 0);
        return !accepts() && is_quiet;
    };
    const auto end = clock::now() + shared.settings.drain_timeout;
    while (!is_done()) {
        on_servers(&server::give_up_slow_handshakes);
        if (shared.life.draining()) co_return "this one shuts down";
        if (!with.say_wait()) co_return is_gone;
        if (clock::now() >= end) co_return "requests were not finished within server.drainTimeout";
        co_await sleep_for(poll_interval);
    }
    co_return "";
}

net::awaitable<std::string> takeover_server::save(talk& with) {
    if (!saves_.expired()) co_return "the state is still being saved for another process";
    awaited<bool> saved{of_.serving.acceptor.thread.io};
    of_.kept.promise();
    auto save = std::make_shared<char>();
    saves_ = save;
    net::post(of_.saving, [this, save = std::move(save), give = saved.to_give()]() mutable {
        of_.leave_fleet();
        const bool is_given_up = of_.kept.give_up();
        save.reset();
        give(is_given_up);
    });
    const auto end = clock::now() + takeover::save_limit;
    while (clock::now() < end) {
        const auto given = co_await saved.wait(takeover::wait_interval / 2);
        if (given) co_return *given ? "" : "the state was not saved";
        if (!with.say_wait()) co_return is_gone;
    }
    co_return "the state was not saved in time";
}

net::awaitable<std::string> takeover_server::give_place(talk& with) {
    if (of_.serving.acceptor.thread.shared.life.draining()) co_return "this one shuts down";
    has_given_ = true;
    on_servers(&server::leave_file);  // from here on the new process serves also if this one ends
    if (const error_code failed = with.other.send(takeover::yours)) co_return failed.message();
    const char* const fault = co_await with.hear(takeover::ready, takeover::load_limit);
    if (fault != nullptr) co_return fault;
    // If this arrives, the new process serves, in any case; otherwise this one does.
    if (const error_code failed = with.other.send(takeover::serve)) co_return failed.message();
    at_.leave_file();
    log::info("another process serves in this one's place");
    on_servers(&server::close);  // else connections would wait here if the other process died
    try {
        co_await finish_copies(of_.serving);
    } catch (const std::exception&) {  // no memory: they are lost
    }
    co_return "";
}

net::awaitable<void> takeover_server::go_on() {
    has_given_ = false;
    bool is_ours = of_.kept.take_back();
    for (const auto end = clock::now() + lock_patience; !is_ours && clock::now() < end;) {
        co_await sleep_for(poll_interval);
        is_ours = of_.kept.take_back();
    }
    if (!is_ours) log::error("state.dir is another process', the next save tries to get it back");
    if (!of_.serving.acceptor.thread.shared.life.go_on()) co_return;  // draining: drain_on_signal continues
    on_all_threads([](worker& thread) { thread.senders.restore_timeouts(); });
    while (accepts()) co_await sleep_for(poll_interval);  // briefly, if the takeover failed at once
    of_.accept_again();
    on_servers(&server::take_file);
}

}  // namespace seriesgate
