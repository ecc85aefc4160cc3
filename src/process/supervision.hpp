/// Reports readiness, status and liveness to the service manager (systemd).
#pragma once

#include <sys/socket.h>
#include <sys/un.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "limit/figures.hpp"
#include "net/async.hpp"
#include "net/descriptor.hpp"
#include "process/serving.hpp"

namespace seriesgate {

/// systemd's notification protocol, without its library. Sends datagrams of lines KEY=VALUE to the unix socket in
/// NOTIFY_SOCKET: a path, or an abstract name after '@'. Source: sd_notify(3), systemd 252. Threads: any.
class notify_socket {
    sockaddr_un to_{};
    socklen_t to_size_ = 0;  // 0: no manager
    descriptor socket_;
    std::atomic<bool> has_failed_{false};  // logged only once

  public:
    /// @param address of NOTIFY_SOCKET; empty: send() does nothing. Other kinds, such as vsock, are logged as unusable.
    explicit notify_socket(std::string_view address);

    [[nodiscard]] explicit operator bool() const noexcept { return to_size_ != 0; }

    /// Never waits: drops the message if the manager does not read, and logs that once.
    /// @param lines with or without a newline at the end.
    void send(const std::string& lines) noexcept;

  private:
    void failed(const char* why) noexcept;
};

/// The manager ends the process if it hears nothing for this long. Source: sd_watchdog_enabled(3): WATCHDOG_USEC in
/// microseconds, valid for the process WATCHDOG_PID, or for any if unset.
/// @param usec,pid the two variables; empty: not set.
/// @param self this process' number in decimals.
/// @return nothing without a watchdog for this process.
[[nodiscard]] std::optional<std::chrono::microseconds> watchdog_limit(std::string_view usec, std::string_view pid,
                                                                      std::string_view self) noexcept;

/// Whether to notify the watchdog: only while every worker had a turn within half of the limit. A stuck thread ends the
/// process within 1.5 limits. Pure.
/// @param oldest_turn of all workers, see oldest_turn().
[[nodiscard]] inline bool is_alive(std::chrono::microseconds limit, monotonic_clock::time_point oldest_turn,
                                   monotonic_clock::time_point now) noexcept {
    return now - oldest_turn <= limit / 2;
}

/// The status line in systemctl: "hour: 900 of 1000 series, 12 refused; upstream up".
/// @param backends_up,backends of the first store; no backends: nothing is forwarded.
/// @param shared state of a fleet's store; empty: joined, or no fleet. The figures leave out what is refused meanwhile.
[[nodiscard]] std::string status_in_words(const limiter_figures& figures, std::size_t backends_up, std::size_t backends,
                                          std::string_view shared);

/// Reports to the service manager; does nothing without NOTIFY_SOCKET. Threads: any, unless stated.
class supervision {
  public:
    struct sources {
        const series_limiter& limiter;
        const shared_stores& stores;
        const worker_threads& workers;
        const lifecycle& life;
        const fleet_shared* fleet;                      ///< null without a fleet
        const std::function<std::string()>& waits_for;  ///< why it is not ready; empty: nothing is known yet
    };

  private:
    const sources of_;
    notify_socket manager_;
    const std::optional<std::chrono::microseconds> watchdog_;  // the limit
    std::atomic<bool> has_started_{false};                     // said
    std::string sent_status_;                                  // the last status sent

  public:
    /// Reads NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID. What `from` refers to outlives this.
    explicit supervision(const sources& from);

    /// Says once that the gate has started. Threads, of these four: the acceptor thread.
    void started();
    void stopping();
    void reload_begins();
    void reload_ends();

    /// Sends the status every few seconds, and notifies the watchdog. Spawn it once. Threads: the acceptor thread.
    net::awaitable<void> run();

  private:
    [[nodiscard]] bool says_reloads() const;
    void send_status();
};

}  // namespace seriesgate
