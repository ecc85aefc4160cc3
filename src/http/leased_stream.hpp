/// A connection that has its place among all.
#pragma once

#include <string>
#include <utility>

#include "http/connections.hpp"
#include "net/timed_stream.hpp"

namespace seriesgate {

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

}  // namespace seriesgate
