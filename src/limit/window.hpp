/// Hours and days, aligned to UTC, so that replicas and restarts agree on them.
#pragma once

#include <chrono>
#include <compare>
#include <cstdint>

namespace seriesgate {

/// A moment, passed in by the edges: the core reads no clock.
using time_point = std::chrono::sys_time<std::chrono::nanoseconds>;

/// [start, end)
struct window_span {
    std::chrono::sys_seconds start;
    std::chrono::sys_seconds end;
    friend bool operator==(const window_span&, const window_span&) = default;
};

inline window_span hour_of(time_point now) {
    const auto start = std::chrono::floor<std::chrono::hours>(now);
    return {start, start + std::chrono::hours{1}};
}

inline window_span day_of(time_point now) {
    const auto start = std::chrono::floor<std::chrono::days>(now);
    return {start, start + std::chrono::days{1}};
}

/// Hours since 1970: as a fleet's store names its windows.
constexpr std::int64_t hour_number(time_point at) noexcept {
    return std::chrono::floor<std::chrono::hours>(at).time_since_epoch().count();
}

/// Minutes since 1970, see series_table.
inline std::uint32_t minute_of(std::chrono::sys_seconds moment) noexcept {
    return static_cast<std::uint32_t>(std::chrono::floor<std::chrono::minutes>(moment).time_since_epoch().count());
}

/// A series' state in the hour before.
enum class standing : std::uint8_t {
    new_series,
    incumbent,  ///< admitted then: room is reserved for it
};

/// What counts series: the hour, the day, and the last minutes, for active series (limit_rules::active_window).
struct in_windows {
    bool hour = false;
    bool day = false;
    bool active = false;

    [[nodiscard]] bool any() const noexcept { return hour || day || active; }
    in_windows& operator|=(in_windows other) noexcept {
        hour |= other.hour;
        day |= other.day;
        active |= other.active;
        return *this;
    }
    friend bool operator==(in_windows, in_windows) = default;
};

/// Fleet: windows of the shared store that a series is entered in: the open hour, its day, and the hour before.
struct entered_windows {
    bool hour = false;
    bool day = false;
    bool before = false;

    [[nodiscard]] bool any() const noexcept { return hour || day || before; }
    friend auto operator<=>(const entered_windows&, const entered_windows&) = default;
};

}  // namespace seriesgate
