/// Why a series is refused.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "limit/figures.hpp"
#include "limit/limit_names.hpp"
#include "limit/offered.hpp"
#include "limit/verdict.hpp"

namespace seriesgate {

/// A budget without room for a series.
struct spent_budget {
    budget_figures figures;
    refusing_window window = refusing_window::hourly;
};

/// The budget in which one limit counts a series, spent or not. Nothing if there is none: the limit has gone, or no
/// series of the group was ever admitted. Threads: any.
std::optional<budget_figures> budget_of(series_limiter& limiter, limit_number limit, std::span<const label_view> labels,
                                        std::string_view tenant);

/// Why a series that was refused would be refused now: the budgets without room for it, those of the hour first.
/// Nothing if there is room, or if the rules would take too long to say. Threads: any.
std::vector<spent_budget> explain(series_limiter& limiter, const offered_series& series,
                                  std::span<const label_view> labels, std::string_view tenant);

}  // namespace seriesgate
