/// One connection from a sender.
#pragma once

#include <optional>

#include "http/connections.hpp"
#include "http/worker.hpp"

namespace seriesgate {

/// Reads requests and answers them, one after the other, until either side has had enough. Pipelined requests wait
/// their turn. Where `offered` passes connections on, this one ends here with the first request that is not for it.
/// Threads: the worker's.
net::awaitable<void> serve(sender_connection from, service& offered);

// --- The ways of a connection to the thread that serves it.

/// Serves it on the thread that it is on. Threads: that of `offered`.
void serve_here(sender_connection from, service& offered);

/// Takes it to the thread of `to`, which it belongs to from then on. Nothing may be pending on it.
/// @return nothing if the system does not let it: it is closed, and the log says so.
[[nodiscard]] std::optional<sender_connection> moved_to(net::io_context& to, sender_connection from);

/// Serves it on another thread. Nothing may be pending on it. Threads: the one that the connection belongs to so far.
void serve_there(sender_connection from, service& offered);

}  // namespace seriesgate
