#include "process/drain.hpp"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <chrono>
#include <csignal>
#include <memory>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "net/async.hpp"

namespace seriesgate {
namespace {

using namespace std::chrono_literals;

constexpr auto drain_poll_interval = 5ms;
/// Senders get at most this long to finish sending or reading, and at most half of server.drainTimeout.
constexpr std::chrono::nanoseconds drain_sender_grace = 3s;
/// A sender sends its request right after connecting. Other connections only test whether the gate listens.
constexpr std::chrono::nanoseconds unasked_grace = 1s;

/// Shortens the time limits of slow senders' later steps.
void shorten_sender_timeouts(worker& of, std::chrono::nanoseconds grace) {
    net::post(of.io, [&senders = of.senders, grace] { senders.shorten_timeouts(grace); });
}

struct unfinished_work {
    const drained_parts& parts;
    monotonic_clock::time_point began = monotonic_clock::now();
    std::chrono::nanoseconds patience;  ///< for connections without a request so far

    [[nodiscard]] std::size_t requests() const {
        const std::size_t of_senders = parts.senders.connections().count_unfinished().busy;
        return of_senders +
               (parts.admin_server == nullptr ? 0 : parts.admin_server->connections().count_unfinished().busy);
    }
    /// Also waits for pending accepts: every accepted connection gets an answer, even if another process shares the
    /// socket.
    [[nodiscard]] bool is_over() const {
        const bool is_patient = monotonic_clock::now() < began + patience;
        return !parts.senders.accepts() && requests() == 0 && parts.stores.copies == 0 &&
               (!is_patient || parts.senders.connections().count_unfinished().unasked == 0);
    }
};

}  // namespace

std::chrono::nanoseconds sender_grace(std::chrono::nanoseconds drain_timeout) noexcept {
    return std::min(drain_sender_grace, drain_timeout / 2);
}

net::awaitable<void> drain(drained_parts of, std::string_view why, std::function<bool()> is_impatient) {
    http_shared& shared = of.acceptor.self.shared;
    log::info("draining", {{"signal", why}});
    shared.life.drain();
    of.senders.close();  // admin.listen stays open, and its /-/ready reports the drain
    const std::chrono::nanoseconds drain_timeout = shared.settings.drain_timeout;
    const auto grace = sender_grace(drain_timeout);
    shorten_sender_timeouts(of.acceptor.self, grace);
    for (const auto& each : of.workers) shorten_sender_timeouts(each->self, grace);

    const unfinished_work left{.parts = of, .patience = std::min(unasked_grace, grace)};
    const auto end = monotonic_clock::now() + drain_timeout;
    async_timer timer{co_await net::this_coro::executor};
    while (!left.is_over() && !is_impatient() && monotonic_clock::now() < end) {
        timer.expires_after(drain_poll_interval);
        co_await timer.async_wait(no_throw);
    }
    if (const std::size_t requests = left.requests())
        log::warn("requests not finished, their senders will try again", {{"requests", requests}});
    if (const std::int64_t copies = of.stores.copies)
        log::warn("copies for replicas not finished, what is in them is lost", {{"requests", copies}});
}

}  // namespace seriesgate
