/// How the gate stops serving without an error for anybody.
#pragma once

#include <boost/asio/signal_set.hpp>
#include <chrono>
#include <functional>
#include <string_view>

#include "admin/admin_service.hpp"
#include "http/server.hpp"
#include "net/asio.hpp"
#include "process/serving.hpp"

namespace seriesgate {

/// What is drained.
struct drained_parts {
    server& senders;
    server* admin_server;  ///< null: the admin paths are served where senders are
    serving_thread& acceptor;
    const worker_threads& workers;
    const shared_stores& stores;
};

/// Takes no more connections of senders, and lets what is being worked on end, for a bounded time.
/// Threads: the front desk's.
/// @param why as the log says it: SIGTERM, for example.
/// @param is_impatient whether the wait is to end at once; asked now and then.
net::awaitable<void> drain(drained_parts of, std::string_view why, std::function<bool()> is_impatient);

/// What senders get, while the gate drains, to finish sending, or reading, what they are at.
[[nodiscard]] std::chrono::nanoseconds sender_grace(std::chrono::nanoseconds drain_timeout) noexcept;

}  // namespace seriesgate
