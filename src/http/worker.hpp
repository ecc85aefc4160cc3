/// A worker thread: its queue delay, its streams, its routes, and the state shared by all workers.
#pragma once

#include <algorithm>
#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <unordered_map>

#include "base/clock.hpp"
#include "config/config.hpp"
#include "http/access_control.hpp"
#include "http/connections.hpp"
#include "http/http_metrics.hpp"
#include "http/inflight.hpp"
#include "http/lifecycle.hpp"
#include "http/rejection_log.hpp"
#include "http/route_table.hpp"
#include "net/asio.hpp"
#include "net/timed_stream.hpp"

namespace seriesgate {

// --- Queue delay: when to turn new requests away.

/// Under overload, requests wait in their sockets: each round of the thread through all ready events takes longer,
/// until every answer is too late. A probe (probe_delay()) waits its turn like a request, and so measures a round.
/// As in CoDel, only a standing delay counts: one large request makes one long round, which passes. Overload means two
/// long rounds in a row, or one with many requests. Then each round works on requests for standing_max, and turns later
/// ones away. So the thread never idles, and the first short round ends the state.
/// Source: Nichols and Jacobson, "Controlling Queue Delay", 2012. Pure: `now` is a parameter. Threads: its worker's.
class queue_delay {
  public:
    using clock = monotonic_clock;

    /// With this many requests a long round means load, not one large request.
    static constexpr std::size_t requests_many = 16;

  private:
    const clock::duration standing_max_;
    clock::time_point round_began_ = clock::time_point::max();
    std::size_t requests_ = 0;  // in this round
    clock::duration last_round_{0};

  public:
    explicit queue_delay(clock::duration standing_max) noexcept : standing_max_(standing_max) {}

    /// @param at when the probe queues, if its own thread is on time.
    void begin_round(clock::time_point at) noexcept {
        round_began_ = at;
        requests_ = 0;
    }
    /// The probe had its turn. @return the duration of the round.
    clock::duration end_round(clock::time_point now) noexcept { return last_round_ = late(now); }
    /// Counts a request of this round.
    void note_request() noexcept { ++requests_; }

    /// Whether to turn a new request away: this round is too long, and not due to one large request.
    [[nodiscard]] bool is_standing(clock::time_point now) const noexcept {
        return (is_behind() || requests_ >= requests_many) && late(now) > standing_max_;
    }
    /// Whether senders may have given up meanwhile, because of load or one large request.
    [[nodiscard]] bool is_late(clock::time_point now) const noexcept {
        return is_behind() || late(now) > standing_max_ / 4;
    }
    /// Whether the last round was too long.
    [[nodiscard]] bool is_behind() const noexcept { return last_round_ > standing_max_; }

    [[nodiscard]] clock::duration late(clock::time_point now) const noexcept {
        return now > round_began_ ? now - round_began_ : clock::duration{0};
    }
};

/// The streams of one worker. While the gate drains, each step gets a short grace instead of its usual time limit.
/// Threads: the worker's.
class sender_streams {
    using duration = timed_stream::clock::duration;
    std::unordered_map<timed_stream*, const bool*> open_;
    duration step_max_ = duration::max();

  public:
    /// @param may_wake true while wake_idle() may cancel its read.
    void enter(timed_stream& stream, const bool& may_wake) { open_.emplace(&stream, &may_wake); }
    void leave(timed_stream& stream) noexcept { open_.erase(&stream); }

    void allow(timed_stream& stream, duration usual) const { stream.expires_after(std::min(usual, step_max_)); }

    void shorten_timeouts(duration grace) {
        step_max_ = grace;
        const auto limit = timed_stream::clock::now() + grace;
        for (const auto& [stream, may_wake] : open_) stream->expires_by(limit);
    }
    void restore_timeouts() noexcept { step_max_ = duration::max(); }

    /// Cancels the wait for a request without losing a byte. Each connection then checks the lifecycle.
    void wake_idle() {
        for (const auto& [stream, may_wake] : open_)
            if (*may_wake) stream->cancel();
    }
    [[nodiscard]] bool shortened_timeouts() const noexcept { return step_max_ != duration::max(); }
};

/// State shared by all serving threads. Threads: any, except `closings`.
struct http_shared {
    const server_config& settings;
    const std::string& tenant_header;  ///< its name, for log lines about rejected requests
    http_metrics& metrics;
    access_control& access;
    inflight_room inflight{metrics.inflight_bytes, settings.inflight_bytes_max, settings.decoded_bytes_max};
    rejection_logs rejections{};
    closings_log closings{};  ///< of the acceptor thread
    lifecycle life{};
};

/// One thread with its io_context. A session never leaves it.
/// Threads: all members except `io` belong to the thread that runs `io`.
struct worker {
    // First, so destroyed last: frames of unfinished sessions end with `io`, and use only these.
    sender_streams senders;
    net::io_context io{1};
    net::executor_work_guard<net::io_context::executor_type> keep_running{io.get_executor()};

    http_shared& shared;
    queue_delay delay{shared.settings.queue_delay_max};
    /// The last turn of its probe. Threads: any.
    std::atomic<std::chrono::steady_clock::time_point> last_turn{monotonic_clock::now()};

    explicit worker(http_shared& state) : shared(state) {}
};

/// The routes of one thread: handlers belong to a thread. Threads: the worker's.
struct service {
    worker& self;
    route_table routes;
    /// Only on the acceptor thread: takes a connection whose request is neither GET nor HEAD.
    std::function<void(sender_connection)> pass_on{};
};

/// Probes the worker's queue ten times a second, and without pauses while it is behind. Runs until the io_context
/// stops; spawn it once. Throws boost::system::system_error if no descriptor is left. Threads: the worker's.
net::awaitable<void> probe_delay(worker& of);

}  // namespace seriesgate
