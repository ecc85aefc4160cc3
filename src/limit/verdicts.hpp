/// What is remembered of a refusal, as a verdict.
#pragma once

#include "limit/limiter.hpp"
#include "limit/refused_cache.hpp"

namespace seriesgate {

/// @param known not unknown.
inline verdict verdict_of(refused_cache::answer known) noexcept {
    switch (known) {
        case refused_cache::answer::refused_hourly:
            return verdict::refused_hourly;
        case refused_cache::answer::refused_daily:
            return verdict::refused_daily;
        case refused_cache::answer::rejected_hourly:
            return verdict::rejected_hourly;
        default:
            return verdict::rejected_daily;
    }
}

inline refusing_window window_of(refused_cache::answer known) noexcept {
    const verdict decided = verdict_of(known);
    const bool by_hour = decided == verdict::refused_hourly || decided == verdict::rejected_hourly;
    return by_hour ? refusing_window::hourly : refusing_window::daily;
}

}  // namespace seriesgate
