/// Tells the service manager, where there is one, how the gate is.
#pragma once

#include <sys/socket.h>
#include <sys/un.h>

#include <atomic>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "limit/figures.hpp"
#include "net/asio.hpp"
#include "process/serving.hpp"

namespace seriesgate {

// --- Tells the service manager how the process is: systemd's notification protocol, without its library.

/// Where NOTIFY_SOCKET points to. Source: sd_notify(3), systemd 252; datagrams of lines KEY=VALUE to a unix socket, at
/// a path or, behind '@', under an abstract name.
/// Threads: any.
class notify_socket {
    sockaddr_un to_{};
    socklen_t to_size_ = 0;  // 0: nobody is to be told
    int socket_ = -1;
    std::atomic<bool> has_failed_{false};  // the log says so once

  public:
    /// @param address what NOTIFY_SOCKET says; empty: nobody is told. Of any other kind of address, such as vsock, the
    /// log says that it cannot be used.
    explicit notify_socket(std::string_view address);
    notify_socket(const notify_socket&) = delete;
    notify_socket& operator=(const notify_socket&) = delete;
    ~notify_socket();

    /// Whether somebody is told.
    [[nodiscard]] explicit operator bool() const noexcept { return to_size_ != 0; }

    /// Never waits: a manager that does not read gets nothing. What cannot be said is lost, and the log says so once.
    /// @param lines with or without a newline at the end
    void send(const std::string& lines) noexcept;

  private:
    void failed(const char* why) noexcept;
};

// --- When the service manager is told that the gate works.

/// How long the service manager waits for a sign of life before it ends the process.
/// Source: sd_watchdog_enabled(3): WATCHDOG_USEC in microseconds, meant for the process WATCHDOG_PID, or any without
/// it.
/// @param usec,pid the two variables' texts; empty: not set. @param self this process' number, in decimals.
/// @return nothing if it waits for none, or not for one of this process.
[[nodiscard]] std::optional<std::chrono::microseconds> watchdog_limit(std::string_view usec, std::string_view pid,
                                                                      std::string_view self) noexcept;

/// Decides when a sign of life is due: twice as often as sd_watchdog_enabled(3) advises, so that one that is lost or
/// late does no harm. And only while every worker has had its turn within half of the limit: so a thread that is stuck
/// ends the process within one and a half of it. Pure. Threads: one at a time.
class watchdog {
    using clock = monotonic_clock;
    const std::chrono::microseconds limit_;

  public:
    explicit watchdog(std::chrono::microseconds limit) noexcept : limit_(limit) {}

    /// From one look to the next.
    [[nodiscard]] std::chrono::microseconds interval() const noexcept { return limit_ / 4; }
    /// @param oldest_turn of all workers: when the one that has waited for the longest was last seen to work.
    [[nodiscard]] bool is_alive(clock::time_point oldest_turn, clock::time_point now) const noexcept {
        return now - oldest_turn <= limit_ / 2;
    }
};

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
    const lifecycle& life_;
    std::string told_;  // the last status

  public:
    struct sources {
        const series_limiter& limiter;
        const shared_stores& stores;
        const worker_threads& workers;
        const lifecycle& life;
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
