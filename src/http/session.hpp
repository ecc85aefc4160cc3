/// Serves one connection: its requests one after the other, on one thread.
#pragma once

#include <optional>

#include "http/connections.hpp"
#include "http/worker.hpp"
#include "net/async.hpp"

namespace seriesgate {

/// Reads and answers requests until one side closes. Pipelined requests wait. If `offered` passes connections on, this
/// ends with the first request for another thread. Threads: the worker's.
net::awaitable<void> serve(sender_connection from, service& offered);

/// Serves it on the current thread. Threads: that of `offered`.
void serve_here(sender_connection from, service& offered);

/// Moves a connection to the thread of `to`. No operation may be pending.
/// @return nothing if the system refuses: the connection is closed, and the error logged.
[[nodiscard]] std::optional<sender_connection> moved_to(net::io_context& to, sender_connection from);

/// Serves it on another thread. No operation may be pending. Threads: the connection's current one.
void serve_there(sender_connection from, service& offered);

/// The log's text about a connection that an error of the gate or the system ends.
inline constexpr const char* connection_failed = "a connection was dropped";

}  // namespace seriesgate
