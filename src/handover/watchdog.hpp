/// When the service manager is told that the gate works.
#pragma once

#include <chrono>
#include <optional>
#include <string_view>

#include "system/clock.hpp"

namespace seriesgate {

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

}  // namespace seriesgate
