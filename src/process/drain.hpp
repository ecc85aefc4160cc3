/// Stops serving without an error for any sender.
#pragma once

#include <boost/asio/signal_set.hpp>
#include <chrono>
#include <functional>
#include <string_view>

#include "admin/admin_service.hpp"
#include "http/server.hpp"
#include "net/async.hpp"
#include "process/serving.hpp"

namespace seriesgate {

struct drained_parts {
    server& senders;
    server* admin_server;  ///< null: the sender listener serves the admin paths
    serving_thread& acceptor;
    const worker_threads& workers;
    const shared_stores& stores;
};

/// Stops accepting senders, then waits until all requests and replica copies are finished, at most server.drainTimeout.
/// Threads: the acceptor thread.
/// @param why the log's reason, for example SIGTERM.
/// @param is_impatient polled; true ends the wait.
net::awaitable<void> drain(drained_parts of, std::string_view why, std::function<bool()> is_impatient);

/// The time that senders get in a drain to finish sending or reading.
[[nodiscard]] std::chrono::nanoseconds sender_grace(std::chrono::nanoseconds drain_timeout) noexcept;

}  // namespace seriesgate
