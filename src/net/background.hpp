/// Work that nobody waits for: whatever it throws is heard of and ends nothing else.
#pragma once

#include <cstddef>
#include <functional>

#include "net/asio.hpp"

namespace seriesgate {

/// Starts a coroutine. Only when memory runs out, or by a bug of ours, does one end with an exception.
/// @param failed what to say in the log then; a literal.
void spawn(const net::any_io_executor& where, net::awaitable<void> task, const char* failed);

/// Starts what has to go on for as long as the process does: made anew a second after an exception, until it returns.
/// @param failed as above.
void spawn_lasting(const net::any_io_executor& where, std::function<net::awaitable<void>()> make, const char* failed);

/// Runs handlers until the context is stopped, also after one that throws. Threads: the one that it makes the
/// context's.
void run_handlers(net::io_context& io);

/// Runs handlers that are ready, also after one that throws. @return how many.
std::size_t poll_handlers(net::io_context& io);

}  // namespace seriesgate
