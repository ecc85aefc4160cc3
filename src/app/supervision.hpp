/// Tells the service manager, where there is one, how the gate is.
#pragma once

#include <optional>
#include <string>

#include "app/serving.hpp"
#include "handover/notify_socket.hpp"
#include "handover/watchdog.hpp"
#include "limit/figures.hpp"
#include "net/asio.hpp"

namespace seriesgate {

/// "hour: 900 of 1000 series, 12 refused; upstream up": what systemctl status shows.
/// @param backends_up,backends of the first store; no backends: nothing is forwarded.
[[nodiscard]] std::string status_in_words(const limiter_figures& figures, std::size_t backends_up,
                                          std::size_t backends);

/// See handover/notify_socket.hpp. Without NOTIFY_SOCKET it does nothing. Threads: any, but where they are named.
class supervision {
    notify_socket manager_;
    std::optional<watchdog> watchdog_;
    const series_limiter& limiter_;
    const shared_stores& stores_;
    const worker_threads& workers_;
    const process_life& life_;
    std::string told_;  // the last status

  public:
    struct sources {
        const series_limiter& limiter;
        const shared_stores& stores;
        const worker_threads& workers;
        const process_life& life;
    };
    /// Reads the variables NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID. What `from` refers to outlives this.
    explicit supervision(const sources& from);

    /// Threads: the front desk's.
    void started();
    void stopping();
    void reload_begins();
    void reload_ends();

    /// Shows the figures every few seconds, and gives signs of life while all workers have their turns. Spawn it once.
    /// Threads: the front desk's.
    net::awaitable<void> run();

  private:
    void ready();
    void tell_status();
};

}  // namespace seriesgate
