/// Connections to a host by name or address, for clients that need one at a time.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/result.hpp"
#include "net/async.hpp"
#include "net/socket.hpp"
#include "net/timed_stream.hpp"

namespace seriesgate {

/// Looks a name up, unless it is an address. @return at least one endpoint, or the error as a sentence.
net::awaitable<result<std::vector<stream_endpoint>, std::string>> endpoints_of(
    net::io_context& io, std::string host, std::uint16_t port, std::chrono::steady_clock::time_point limit);

/// Opens the first endpoint that accepts; each has an equal part of the time left.
/// @param stream set to the open stream, or to nothing. @param make_session see open_stream(). References must outlive
/// it. @return the error as a sentence; empty if connected.
net::awaitable<std::string> open_first(net::io_context& io, std::vector<stream_endpoint> endpoints,
                                       const session_maker& make_session, std::chrono::steady_clock::time_point limit,
                                       std::optional<timed_stream>& stream);

}  // namespace seriesgate
