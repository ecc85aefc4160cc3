#include "redis/redis_client.hpp"

#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <new>
#include <utility>

#include "base/clock.hpp"
#include "net/async.hpp"
#include "net/event_loop.hpp"
#include "redis/redis_reply.hpp"

namespace seriesgate {
namespace {

using namespace std::chrono_literals;
using kind = redis_error::kind;
using clock = monotonic_clock;

std::string sha1_of(const std::string& text) {
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    unsigned size = 0;
    if (EVP_Digest(text.data(), text.size(), digest.data(), &size, EVP_sha1(), nullptr) != 1) throw std::bad_alloc{};
    std::string made;
    for (unsigned i = 0; i < size; ++i) {
        made += "0123456789abcdef"[digest[i] >> 4];
        made += "0123456789abcdef"[digest[i] & 15];
    }
    return made;
}

constexpr clock::duration pause_min = 50ms;
constexpr clock::duration pause_max = 1s;
/// A connection silent for this long is checked with a PING.
constexpr auto quiet_max = 5s;
constexpr unsigned redirections_max = 5;
constexpr std::size_t retired_max = 8;

/// For one attempt: lookup, socket, TLS and greeting.
clock::duration attempt_limit(const redis_config& config) {
    return std::max<clock::duration>(1s, 4 * config.timeout);
}

/// A reply this much later than its call's limit will not arrive any more.
clock::duration patience(const redis_config& config) {
    return 2 * config.timeout;
}

/// Ends an attempt, also if Asio destroys its coroutine because an operation finds no memory to begin.
struct attempt_end {
    std::shared_ptr<bool> attempting;
    ~attempt_end() { *attempting = false; }
};

/// Whether the error is a reply of the server.
bool is_reply(const redis_error& error) noexcept {
    return error.why != kind::unreachable && error.why != kind::timeout && error.why != kind::protocol;
}

/// The server cannot serve us; another one, or a new connection, may.
bool asks_for_another(const redis_error& error) noexcept {
    return error.why == kind::read_only || says(error, "NOAUTH");
}

}  // namespace

redis_script::redis_script(std::string lua) : text(std::move(lua)), sha1(sha1_of(text)) {}

redis_client::redis_client(net::io_context& io, const redis_config& config, redis_shared& shared)
    : io_(io), config_(config), shared_(shared), connector_(io, config, shared) {}

net::awaitable<redis_answer> redis_client::call(std::vector<std::string> words, clock::duration limit) {
    co_return co_await call_by(words, clock::now() + limit);
}

net::awaitable<redis_answer> redis_client::call_script(const redis_script& script, std::vector<std::string> words,
                                                       clock::duration limit) {
    const auto by = clock::now() + limit;
    words.insert(words.begin(), {"EVALSHA", script.sha1});
    redis_answer answer = co_await call_by(words, by, last_word::run_id);
    if (answer || !says(answer.error(), "NOSCRIPT")) co_return answer;
    words[0] = "EVAL";
    words[1] = script.text;
    co_return co_await call_by(words, by, last_word::run_id);
}

net::awaitable<redis_answer> redis_client::call_by(std::vector<std::string>& words, clock::time_point by,
                                                   last_word last) {
    for (unsigned redirections = 0; redirections <= redirections_max; ++redirections) {
        auto line = co_await line_by(by);
        if (!line) co_return line.error();
        const host_port at = now_.at;
        if (last == last_word::run_id) words.back() = now_.run_id;
        redis_answer answer = co_await (*line)->call(words, by);
        std::optional<redirection> elsewhere;
        if (!answer && config_.cluster) elsewhere = redirection_in(answer.error(), at);
        if (elsewhere && elsewhere->once) {
            answer = co_await ask(elsewhere->to, words, by, last);
            if (!answer) elsewhere = redirection_in(answer.error(), elsewhere->to);
        }
        if (answer || !elsewhere) {
            judge(*line, answer);
            co_return answer;
        }
        if (!elsewhere->once) follow(*line, elsewhere->to);
    }
    co_return redis_error{.why = kind::busy, .text = "the nodes of the cluster send us in circles"};
}

/// @return the connection, or the one being made. Fails at once after a failed attempt.
net::awaitable<result<redis_client::line_ptr, redis_error>> redis_client::line_by(clock::time_point limit) {
    look();
    while (!now_.line && !away_ && clock::now() < limit) {
        if (attempt_awaited_.size() >= redis_pipeline::calls_max)
            co_return redis_error{.why = kind::busy, .text = "too many calls wait for a connection"};
        start_connecting();
        co_await wait_for_attempt(limit);
    }
    if (now_.line) co_return now_.line;
    if (away_) co_return *away_;
    co_return redis_error{.why = kind::unreachable, .text = "there is no connection in time"};
}

net::awaitable<void> redis_client::wait_for_attempt(clock::time_point limit) {
    const auto wakes = std::make_shared<async_timer>(io_, limit);
    attempt_awaited_.push_back(wakes);
    co_await wakes->async_wait(no_throw);
    std::erase(attempt_awaited_, wakes);
}

void redis_client::start_connecting() {
    if (std::exchange(connecting_, true)) return;
    try {
        spawn_lasting(io_, "connecting to the shared store failed", [this] { return connect_until_there(); });
    } catch (...) {  // out of memory
        connecting_ = false;
        throw;
    }
}

net::awaitable<void> redis_client::connect_until_there() {
    for (;;) {
        if (away_) co_await sleep_for(pause_);
        auto made = co_await attempt(nullptr, clock::now() + attempt_limit(config_));
        if (made) {
            take(std::move(*made));
            break;
        }
        connector_.failed();
        go_away(made.error());
    }
    connecting_ = false;
}

/// Waiters resume after the outcome was stored. @param to null: the next server
net::awaitable<redis_connector::connected> redis_client::attempt(const host_port* to, clock::time_point limit) {
    while (*attempting_ && clock::now() < limit) co_await wait_for_attempt(limit);
    if (*attempting_) co_return redis_error{.why = kind::unreachable, .text = "another connection is being made"};
    redis_connector::connected made = redis_error{};
    {
        *attempting_ = true;
        const attempt_end ends{attempting_};
        if (to)
            made = co_await connector_.connect_to(*to, limit);
        else
            made = co_await connector_.connect(limit);
    }
    (made ? shared_.metrics.connections : shared_.metrics.connect_failures).add();
    if (!made) shared_.note(made.error());
    wake_waiting();
    co_return made;
}

void redis_client::wake_waiting() {
    for (const auto& each : std::exchange(attempt_awaited_, {})) each->cancel();
}

void redis_client::take(redis_connection made) {
    now_ = std::move(made);
    made_at_ = clock::now();
    ++epoch_;
    proven_ = false;
    away_.reset();
}

void redis_client::follow_server(const std::string& run_id, clock::time_point now) {
    if (config_.cluster) return;  // MOVED leads to the node that has the keys
    if (run_id.empty() || !now_.line || now_.run_id == run_id || now < made_at_ + 1s) return;
    retire(std::exchange(now_.line, nullptr));
    start_connecting();
}

net::awaitable<redis_answer> redis_client::ask(const host_port& node, std::vector<std::string>& words,
                                               clock::time_point limit, last_word last) {
    auto failed = co_await connect_for_asking(node, limit);
    if (failed) co_return std::move(*failed);
    const line_ptr line = asked_.line;
    if (last == last_word::run_id) words.back() = asked_.run_id;
    line->post({"ASKING"}, limit);
    co_return co_await line->call(words, limit);
}

net::awaitable<std::optional<redis_error>> redis_client::connect_for_asking(const host_port& node,
                                                                            clock::time_point limit) {
    while (*attempting_ && clock::now() < limit) co_await wait_for_attempt(limit);  // it may lead to `node`
    const auto now = clock::now();
    if (asked_.line && !asked_.line->end() && !asked_.line->is_overdue(now, patience(config_)) && asked_.at == node)
        co_return std::nullopt;
    retire(std::exchange(asked_.line, nullptr));
    auto made = co_await attempt(&node, std::min(limit, now + attempt_limit(config_)));
    if (!made) co_return made.error();
    retire(std::exchange(asked_.line, nullptr));  // set meanwhile by another call
    asked_ = std::move(*made);
    co_return std::nullopt;
}

/// The keys have moved to another node. Only the first call that learns of it acts.
void redis_client::follow(const line_ptr& from, const host_port& to) {
    if (from != now_.line) return;
    connector_.moved(to);
    retire(std::exchange(now_.line, nullptr));
    start_connecting();
}

/// Draws conclusions about the connection from an answer or error.
void redis_client::judge(const line_ptr& line, const redis_answer& answer) {
    if (!answer && !says(answer.error(), "NOSCRIPT")) shared_.note(answer.error());
    if (line != now_.line) return;
    if (!answer && asks_for_another(answer.error())) {
        retire(std::exchange(now_.line, nullptr));
        connector_.failed();
        go_away(answer.error());
        return start_connecting();
    }
    if (!answer && !is_reply(answer.error())) return look();
    proven_ = true;
    pause_ = {};
}

/// Checks that the connection is still alive.
void redis_client::look(clock::time_point now) {
    if (!now_.line) return;
    if (now_.line->is_overdue(now, patience(config_)))
        now_.line->close({.why = kind::timeout, .text = "no answer for a while, the connection was closed"});
    if (!now_.line->end()) return;
    const redis_error why = *now_.line->end();
    now_.line.reset();
    shared_.note(why);
    if (!proven_ || why.why != kind::unreachable) go_away(why);
    start_connecting();
}

void redis_client::go_away(redis_error why) {
    if (!is_reply(why)) why.why = kind::unreachable;
    away_ = std::move(why);
    pause_ = std::clamp(2 * pause_, pause_min, pause_max);
}

void redis_client::retire(line_ptr line) {
    if (!line) return;
    retired_.push_back(std::move(line));
    clear_retired();
}

void redis_client::clear_retired(clock::time_point now) {
    std::size_t left = retired_.size();
    for (const line_ptr& each : retired_) {
        if (left-- > retired_max || each->is_idle() || each->is_overdue(now, patience(config_)))
            each->close({.why = kind::unreachable, .text = "the server is not used any more"});
    }
    std::erase_if(retired_, [](const line_ptr& each) { return each->end().has_value(); });
}

void redis_client::maintain(clock::time_point now) {
    look(now);
    clear_retired(now);
    if (asked_.line && now - asked_.line->used_at() >= quiet_max) retire(std::exchange(asked_.line, nullptr));
    if (!now_.line) return start_connecting();
    shared_.metrics.late_replies.add(now_.line->take_late());
    if (now - now_.line->used_at() >= quiet_max) now_.line->post({"PING"}, now + config_.timeout);
}

}  // namespace seriesgate
