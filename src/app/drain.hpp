/// What the process does when it is told something from outside: SIGTERM, SIGINT, SIGHUP.
#pragma once

#include <boost/asio/signal_set.hpp>
#include <chrono>
#include <functional>

#include "admin/admin_answers.hpp"
#include "app/serving.hpp"
#include "http/server.hpp"
#include "net/asio.hpp"

namespace seriesgate {

/// Waits for the first signal, takes no more connections of senders, and lets what is being worked on end, for a
/// bounded time; then stops the front desk. A second signal ends the wait. Threads: the front desk's.
/// @param begins called when it begins to drain.
net::awaitable<void> drain_on_signal(net::signal_set& signals, server& senders, serving_thread& front_desk,
                                     const worker_threads& workers, const shared_stores& stores,
                                     std::function<void()> begins);

/// What senders get, while the gate drains, to finish sending, or reading, what they are at.
[[nodiscard]] std::chrono::nanoseconds sender_grace(std::chrono::nanoseconds drain_timeout) noexcept;

/// Asks for a reload at every signal. Threads: any one.
net::awaitable<void> reload_on_signal(net::signal_set& signals, admin_shared& admin);

}  // namespace seriesgate
