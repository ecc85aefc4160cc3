/// One connection from a sender.
#pragma once

#include "http/worker.hpp"

namespace seriesgate {

/// Reads requests and answers them, one after the other, until either side has had enough. Pipelined requests wait
/// their turn. Threads: the worker's.
net::awaitable<void> serve(tcp::socket socket, worker& self);

}  // namespace seriesgate
