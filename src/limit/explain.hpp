/// Why a series is refused.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "limit/figures.hpp"
#include "limit/offered.hpp"
#include "limit/verdict.hpp"

namespace seriesgate {

/// A budget without room for a series.
struct spent_budget {
    budget_figures figures;
    refusing_window window = refusing_window::hourly;
};

/// Why a series that was refused would be refused now: the budgets without room for it, those of the hour first.
/// Nothing if there is room, or if the rules would take too long to say. Threads: any.
std::vector<spent_budget> explain(series_limiter& limiter, const offered_series& series,
                                  std::span<const label_view> labels, std::string_view tenant);

}  // namespace seriesgate
