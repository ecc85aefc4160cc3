/// What is decided about a series.
#pragma once

#include <cassert>
#include <cstdint>

#include "limit/limit_names.hpp"

namespace seriesgate {

/// Which window's budget said no.
enum class refusing_window : std::uint8_t { hourly, daily };

/// From the refused cache to the sender's answer. "Told": the sender hears of it, see limit_answer::reject.
enum class verdict : std::uint8_t {
    known,               ///< accepted: admitted before, or a marker that no limit applies to
    admitted,            ///< accepted: counted now
    unknown,             ///< dropped: a stale marker or exemplar of a series that nobody admitted
    refused_hourly = 4,  ///< new, and a budget of the hour is spent
    refused_daily,       ///< new in the day, and a budget of the day is spent
    refused_hourly_told,
    refused_daily_told,
};

constexpr unsigned verdict_number(verdict of) noexcept {
    return static_cast<unsigned>(of);
}

constexpr bool is_accepted(verdict of) noexcept {
    return of <= verdict::admitted;
}

/// By a budget; what is unknown is not.
constexpr bool is_refused(verdict of) noexcept {
    return of >= verdict::refused_hourly;
}

constexpr bool is_told(verdict of) noexcept {
    return of == verdict::refused_hourly_told || of == verdict::refused_daily_told;
}

/// Whether senders hear of a refusal.
enum class telling : std::uint8_t { silent, told };

constexpr verdict refused_by(refusing_window window, telling to_sender) noexcept {
    const bool by_hour = window == refusing_window::hourly;
    if (to_sender == telling::told) return by_hour ? verdict::refused_hourly_told : verdict::refused_daily_told;
    return by_hour ? verdict::refused_hourly : verdict::refused_daily;
}

/// @param of is_refused.
constexpr refusing_window window_of(verdict of) noexcept {
    assert(is_refused(of));
    static_assert(((verdict_number(verdict::refused_hourly) | verdict_number(verdict::refused_hourly_told)) & 1) == 0);
    return (verdict_number(of) & 1) == 0 ? refusing_window::hourly : refusing_window::daily;
}

/// A limit without room.
struct spent_limit {
    limit_number by = global_limit;
    refusing_window window = refusing_window::hourly;
};

/// A verdict that is_refused, with the limit that said no.
struct refusal {
    verdict how = verdict::refused_hourly;
    limit_number by = global_limit;

    friend bool operator==(const refusal&, const refusal&) = default;
};

}  // namespace seriesgate
