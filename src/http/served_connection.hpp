/// A connection in the hands of the thread that serves it.
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

// --- What a sender is called.

/// How logs and answers call a peer: its address, "unix" for one of a unix socket, nothing if it has gone.
[[nodiscard]] inline std::string sender_at(const stream_endpoint& peer) {
    if (const auto known = ip_address_of(peer)) return known->to_string();
    return is_unix(peer) ? "unix" : "";
}

// --- A connection that has its place among all.

/// Stream and lease in the one order in which they may go: else the registry could shut down a socket that somebody
/// else has been given the number of. Threads: the stream's.
struct leased_stream {
    timed_stream stream;
    connection_lease lease;  // goes before the stream closes its socket

    /// If memory runs out, both are still the caller's.
    explicit leased_stream(sender_connection&& from)
        : stream(std::move(from.socket), std::move(from.tls)), lease(std::move(from.lease)) {}
    leased_stream(const leased_stream&) = delete;
    leased_stream& operator=(const leased_stream&) = delete;

    /// For another thread. Nothing may be pending; this is done for.
    [[nodiscard]] sender_connection release(std::string read_ahead = {}) && {
        auto [socket, tls] = std::move(stream).release();
        return {std::move(socket), std::move(lease), std::move(read_ahead), std::move(tls)};
    }
};

/// Its stream, what has been read ahead, and its place among all connections. Threads: the worker's.
struct served_connection : leased_stream {
    flat_buffer buffer{read_buffer_bytes_max};
    const std::string sender;            ///< see sender_at()
    const std::string certificate_name;  ///< that its verified certificate names; empty without one
    service& offered;
    worker& self;
    bool may_wake = false;  ///< waits for the first byte of a request

    served_connection(sender_connection from, service& of);
    served_connection(const served_connection&) = delete;
    served_connection& operator=(const served_connection&) = delete;
    ~served_connection() { self.senders.leave(stream); }

    /// Gives what is done next its time.
    void allow(timed_stream::clock::duration limit) { self.senders.allow(stream, limit); }
    /// Whether the next answer is the last on this connection.
    [[nodiscard]] bool ends() const noexcept {
        return lease.over() || self.shared.life.draining() || self.shared.life.in_takeover();
    }
    /// Counts if that was not enough.
    void note_end(error_code error, connection_wait of) {
        if (error == boost::beast::error::timeout) self.shared.metrics.connections_timed_out[of].add();
    }
};

/// Waits for the first byte of the next request; during a takeover for a moment only. @return false: close the
/// connection. Its sender then connects to the next process.
net::awaitable<bool> wait_for_request(served_connection& peer);

/// Whether the request that has begun is for another thread than the front desk's. Its first byte tells.
bool is_to_be_passed_on(const served_connection& peer);

/// Hands the connection over, with what has been read of it.
void pass_on(served_connection& peer);

/// Closes so that the sender reads our last answer: a close with unread input would be a reset.
net::awaitable<void> linger(served_connection& peer);

}  // namespace seriesgate
