#include "limit/budget_figures.hpp"

#include "limit/budget_book.hpp"

namespace seriesgate {
namespace {

budget_window_figures figures_of(const budget& counted) {
    return {.series_max = counted.max(),
            .series_current = counted.current(),
            .series_reserved = counted.reserved(),
            .series_refused = counted.refused_series(),
            .refused_is_exact = counted.counts_refused_exactly()};
}

}  // namespace

budget_figures figures_of(const budget_pair& pair) {
    return {.name = {},
            .mode = pair.mode,
            .overridden = false,
            .hourly = figures_of(pair.hourly),
            .daily = figures_of(pair.daily)};
}

}  // namespace seriesgate
