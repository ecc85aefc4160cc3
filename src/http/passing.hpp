/// The ways of a connection to the thread that serves it.
#pragma once

#include "http/connections.hpp"
#include "http/service.hpp"

namespace seriesgate {

/// Serves it on the thread that it is on. Threads: that of `offered`.
void serve_here(sender_connection from, service& offered);

/// Serves it on another thread. Nothing may be pending on it. Threads: the one that the connection belongs to so far.
void serve_there(sender_connection from, service& offered);

}  // namespace seriesgate
