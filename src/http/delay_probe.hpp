/// Measures how long what has come to a worker waits for its turn.
#pragma once

#include "http/worker.hpp"

namespace seriesgate {

/// Sends a probe through the worker's queue ten times a second, and one after the other while it is behind. Runs until
/// the io_context stops; spawn it once. Throws boost::system::system_error without a descriptor for the probe.
/// Threads: the worker's.
net::awaitable<void> probe_delay(worker& of);

}  // namespace seriesgate
