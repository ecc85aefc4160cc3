/// A worker thread: its streams, its routes, and the state shared by all workers.
#pragma once

#include <algorithm>
#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/beast/core/error.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "base/clock.hpp"
#include "config/config.hpp"
#include "http/access_control.hpp"
#include "http/connections.hpp"
#include "http/http_metrics.hpp"
#include "http/inflight.hpp"
#include "http/queue_delay.hpp"
#include "http/route_table.hpp"
#include "net/async.hpp"
#include "net/http_messages.hpp"
#include "net/socket.hpp"
#include "net/timed_stream.hpp"

namespace seriesgate {

// --- The lifecycle of the process.

enum class lifecycle_state : std::uint8_t {
    starting,
    ready,
    in_takeover,  ///< by another process; a failed takeover returns to ready
    draining,
};

/// Threads: any.
class lifecycle {
    std::atomic<lifecycle_state> stage_{lifecycle_state::starting};

  public:
    [[nodiscard]] lifecycle_state stage() const noexcept { return stage_.load(); }
    [[nodiscard]] bool draining() const noexcept { return stage() == lifecycle_state::draining; }
    [[nodiscard]] bool in_takeover() const noexcept { return stage() == lifecycle_state::in_takeover; }

    /// No effect while draining: a signal may come before the gate is ready.
    void become_ready() noexcept { go(lifecycle_state::starting, lifecycle_state::ready); }
    void drain() noexcept { stage_ = lifecycle_state::draining; }

    /// @return false if not ready.
    bool hand_over() noexcept { return go(lifecycle_state::ready, lifecycle_state::in_takeover); }
    /// After a failed takeover. @return false if draining.
    bool go_on() noexcept { return go(lifecycle_state::in_takeover, lifecycle_state::ready); }

  private:
    bool go(lifecycle_state from, lifecycle_state to) noexcept { return stage_.compare_exchange_strong(from, to); }
};

// --- A worker: its streams, its event loop, its routes.

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
    worker& thread;
    route_table routes;
    /// Only on the acceptor thread: takes a connection whose request is neither GET nor HEAD.
    std::function<void(sender_connection)> pass_on{};
};

/// Probes the worker's queue ten times a second, and without pauses while it is behind. Runs until the io_context
/// stops; spawn it once. Throws boost::system::system_error if no descriptor is left. Threads: the worker's.
net::awaitable<void> probe_delay(worker& of);

// --- A connection on the thread that serves it.

/// Whether a peer is one of server.trustedProxies.
[[nodiscard]] bool is_trusted(const std::optional<net::ip::address>& peer, const server_config& settings);

/// Destroys the lease first: the registry must not shut down a reused descriptor number. Threads: the stream's.
struct leased_stream {
    timed_stream stream;
    connection_lease lease;  // goes before the stream closes its socket

    /// On std::bad_alloc the caller keeps both.
    explicit leased_stream(sender_connection&& from)
        : stream(std::move(from.socket), std::move(from.tls)), lease(std::move(from.lease)) {}
    leased_stream(const leased_stream&) = delete;
    leased_stream& operator=(const leased_stream&) = delete;

    /// By the PROXY header, or else the socket's. Nothing for a unix socket, and for a peer that has gone.
    [[nodiscard]] std::optional<net::ip::address> sender_address() const;
    /// For logs and answers: the address, "unix", or empty if it is gone.
    [[nodiscard]] std::string sender_name() const;

    /// Releases the connection for another thread. No operation may be pending. Unusable afterwards.
    [[nodiscard]] sender_connection release(std::string read_ahead = {}) && {
        auto [socket, tls] = std::move(stream).release();
        return {std::move(socket), std::move(lease), std::move(read_ahead), std::move(tls)};
    }
};

/// A registered stream with its read buffer. Threads: the worker's.
struct served_connection : leased_stream {
    flat_buffer buffer{read_buffer_bytes_max};
    const std::string sender;            ///< see sender_name()
    const bool is_of_proxy;              ///< in server.trustedProxies: its requests may name other senders
    const std::string certificate_name;  ///< of its verified certificate; empty without one
    service& offered;
    worker& thread;
    bool may_wake = false;  ///< while it waits for the first byte of a request

    served_connection(sender_connection from, service& of);
    ~served_connection() { thread.senders.leave(stream); }

    void allow(timed_stream::clock::duration limit) { thread.senders.allow(stream, limit); }
    /// Whether the next answer is the last on this connection.
    [[nodiscard]] bool ends() const noexcept {
        return lease.exceeded_bound() || thread.shared.life.draining() || thread.shared.life.in_takeover();
    }
    void note_end(error_code error, connection_wait of) {
        if (error == boost::beast::error::timeout) thread.shared.metrics.connections_timed_out[of].add();
    }
};

/// Waits for the first byte of the next request; in a takeover only briefly.
/// @return false: close the connection. The sender then connects to the next process.
net::awaitable<bool> wait_for_request(served_connection& peer);

/// Whether the current request belongs on a worker, by its first byte. Only on the acceptor thread.
bool is_to_be_passed_on(const served_connection& peer);

/// Moves the connection to a worker, with the bytes already read.
void pass_on(served_connection& peer);

/// Closes after the sender has read the answer: a close with unread input would cause a reset.
net::awaitable<void> linger(served_connection& peer);

}  // namespace seriesgate
