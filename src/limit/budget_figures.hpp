/// The figures of one budget.
#pragma once

#include "limit/budget_book.hpp"
#include "limit/figures.hpp"

namespace seriesgate {

inline budget_window_figures figures_of(const budget& counted) {
    return {
        .series_max = counted.max(), .series_current = counted.current(), .series_refused = counted.refused_series()};
}

/// Without a name.
inline budget_figures figures_of(const budget_pair& pair) {
    return {.name = {}, .mode = pair.mode, .hourly = figures_of(pair.hourly), .daily = figures_of(pair.daily)};
}

}  // namespace seriesgate
