/// A connection on the thread that serves it.
#pragma once

#include <boost/beast/core/error.hpp>
#include <string>
#include <utility>

#include "http/connections.hpp"
#include "http/worker.hpp"
#include "net/http_messages.hpp"
#include "net/socket.hpp"
#include "net/timed_stream.hpp"

namespace seriesgate {

/// A peer in logs and answers: its IP address, "unix", or empty if it is gone.
[[nodiscard]] inline std::string sender_at(const stream_endpoint& peer) {
    if (const auto known = ip_address_of(peer)) return known->to_string();
    return is_unix(peer) ? "unix" : "";
}

/// Destroys the lease first: the registry must not shut down a reused descriptor number. Threads: the stream's.
struct leased_stream {
    timed_stream stream;
    connection_lease lease;  // goes before the stream closes its socket

    /// On std::bad_alloc the caller keeps both.
    explicit leased_stream(sender_connection&& from)
        : stream(std::move(from.socket), std::move(from.tls)), lease(std::move(from.lease)) {}
    leased_stream(const leased_stream&) = delete;
    leased_stream& operator=(const leased_stream&) = delete;

    /// Releases the connection for another thread. No operation may be pending. Unusable afterwards.
    [[nodiscard]] sender_connection release(std::string read_ahead = {}) && {
        auto [socket, tls] = std::move(stream).release();
        return {std::move(socket), std::move(lease), std::move(read_ahead), std::move(tls)};
    }
};

/// A registered stream with its read buffer. Threads: the worker's.
struct served_connection : leased_stream {
    flat_buffer buffer{read_buffer_bytes_max};
    const std::string sender;            ///< see sender_at()
    const std::string certificate_name;  ///< of its verified certificate; empty without one
    service& offered;
    worker& self;
    bool may_wake = false;  ///< while it waits for the first byte of a request

    served_connection(sender_connection from, service& of);
    served_connection(const served_connection&) = delete;
    served_connection& operator=(const served_connection&) = delete;
    ~served_connection() { self.senders.leave(stream); }

    /// Limits the next step.
    void allow(timed_stream::clock::duration limit) { self.senders.allow(stream, limit); }
    /// Whether the next answer is the last on this connection.
    [[nodiscard]] bool ends() const noexcept {
        return lease.over() || self.shared.life.draining() || self.shared.life.in_takeover();
    }
    /// Counts a timeout.
    void note_end(error_code error, connection_wait of) {
        if (error == boost::beast::error::timeout) self.shared.metrics.connections_timed_out[of].add();
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
