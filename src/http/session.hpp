/// One connection from a sender.
#pragma once

#include "http/connections.hpp"
#include "http/service.hpp"

namespace seriesgate {

/// Reads requests and answers them, one after the other, until either side has had enough. Pipelined requests wait
/// their turn. Where `offered` passes connections on, this one ends here with the first request that is not for it.
/// Threads: the worker's.
net::awaitable<void> serve(sender_connection from, service& offered);

}  // namespace seriesgate
