/// One thread that serves connections, and what all of them share.
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

// --- How late a thread is with what has come, and whether to turn new requests away for it.

/// Where requests come faster than they can be worked on, they wait in the sockets: each round of the thread through
/// all that is ready takes longer, and in the end nobody is answered in time. A probe that waits for its turn as they
/// do (delay_probe.hpp) tells how long a round takes.
///
/// After CoDel, it is the standing delay that counts: a giant among requests makes one round long, which is nobody's
/// fault and soon over. If two rounds in a row are too long, or one is in which many were worked on, there is more than
/// can be done. Then in each round that much time goes to requests, and those that come later in it are turned away. So
/// the thread is never idle, and the first round that is short again ends it.
/// Source: Nichols and Jacobson, "Controlling Queue Delay", 2012.
///
/// Pure: `now` is passed in. Threads: the one whose delay it is.
class queue_delay {
  public:
    using clock = monotonic_clock;

    /// So many are no giants.
    static constexpr std::size_t requests_many = 16;

  private:
    const clock::duration standing_max_;
    clock::time_point round_began_ = clock::time_point::max();
    std::size_t requests_ = 0;  // in this round
    clock::duration last_round_{0};

  public:
    explicit queue_delay(clock::duration standing_max) noexcept : standing_max_(standing_max) {}

    /// @param at when a probe goes to the end of the queue, if whoever sends it is not late, too.
    void begin_round(clock::time_point at) noexcept {
        round_began_ = at;
        requests_ = 0;
    }
    /// It has had its turn. @return how long that took.
    clock::duration end_round(clock::time_point now) noexcept { return last_round_ = late(now); }
    /// A request is worked on.
    void note_request() noexcept { ++requests_; }

    /// Whether this round is too long already, and not by accident.
    [[nodiscard]] bool is_standing(clock::time_point now) const noexcept {
        return (is_behind() || requests_ >= requests_many) && late(now) > standing_max_;
    }
    /// Whether requests wait for long enough that their senders may have given up meanwhile, be it for many requests or
    /// for one giant.
    [[nodiscard]] bool is_late(clock::time_point now) const noexcept {
        return is_behind() || late(now) > standing_max_ / 4;
    }
    /// Whether the last round was too long.
    [[nodiscard]] bool is_behind() const noexcept { return last_round_ > standing_max_; }

    /// How long this round has taken so far.
    [[nodiscard]] clock::duration late(clock::time_point now) const noexcept {
        return now > round_began_ ? now - round_began_ : clock::duration{0};
    }
};

// --- The connections that senders hold to one worker, and how long they are waited for.

/// While the gate drains, senders that are slow hold nobody up: what is being read or written then, and each such step
/// that begins later, gets a short grace instead of its usual time.
/// Threads: the worker's.
class sender_streams {
    using duration = timed_stream::clock::duration;
    std::unordered_map<timed_stream*, const bool*> open_;
    duration step_max_ = duration::max();

  public:
    /// @param may_wake whether it waits for something that wake_idle() is to end, at the moment.
    void enter(timed_stream& stream, const bool& may_wake) { open_.emplace(&stream, &may_wake); }
    void leave(timed_stream& stream) noexcept { open_.erase(&stream); }

    /// Gives the stream's next step its time.
    void allow(timed_stream& stream, duration usual) const { stream.expires_after(std::min(usual, step_max_)); }

    void shorten_timeouts(duration grace) {
        step_max_ = grace;
        const auto limit = timed_stream::clock::now() + grace;
        for (const auto& [stream, may_wake] : open_) stream->expires_by(limit);
    }
    /// Each step that begins from here on has its usual time again.
    void restore_timeouts() noexcept { step_max_ = duration::max(); }

    /// Ends the wait for a request, without losing a byte: each connection then looks at the lifecycle.
    void wake_idle() {
        for (const auto& [stream, may_wake] : open_)
            if (*may_wake) stream->cancel();
    }
    [[nodiscard]] bool shortened_timeouts() const noexcept { return step_max_ != duration::max(); }
};

/// What all threads that serve connections share. Everything in it may be used by any of them at any time.
struct http_shared {
    const server_config& settings;
    const std::string& tenant_header;  ///< its name: the log says whose request was rejected
    http_metrics& metrics;
    access_control& access;
    inflight_room inflight{metrics.inflight_bytes, settings.inflight_bytes_max, settings.decoded_bytes_max};
    rejection_logs rejections{};
    closings_log closings{};  ///< the front desk's
    lifecycle life{};
};

/// One thread with its io_context. A session never leaves it.
/// Threads: everything but `io` belongs to the thread that runs `io`.
struct worker {
    // First, so that they are destroyed last: the frames of unfinished sessions go with `io` and use nothing else.
    sender_streams senders;
    net::io_context io{1};
    net::executor_work_guard<net::io_context::executor_type> keep_running{io.get_executor()};

    http_shared& shared;
    queue_delay delay{shared.settings.queue_delay_max};
    /// When its probe last had its turn, see delay_probe.hpp. Threads: any.
    std::atomic<std::chrono::steady_clock::time_point> last_turn{monotonic_clock::now()};

    explicit worker(http_shared& state) : shared(state) {}
};

// --- What a listener offers on one thread.

/// A session answers by its routes. Handlers belong to a thread, so every thread has a service of its own.
/// Threads: the worker's.
struct service {
    worker& self;
    route_table routes;
    /// Of the front desk only, which answers GET and HEAD: takes connections with any other request.
    std::function<void(sender_connection)> pass_on{};
};

// --- Measures how long what has come to a worker waits for its turn.

/// Sends a probe through the worker's queue ten times a second, and one after the other while it is behind. Runs until
/// the io_context stops; spawn it once. Throws boost::system::system_error without a descriptor for the probe.
/// Threads: the worker's.
net::awaitable<void> probe_delay(worker& of);

}  // namespace seriesgate
