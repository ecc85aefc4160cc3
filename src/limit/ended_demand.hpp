/// The demand of windows that have ended, for who keeps it.
#pragma once

#include <optional>
#include <vector>

#include "limit/budget_name.hpp"
#include "limit/ended_budgets.hpp"

namespace seriesgate {

class series_limiter;

/// One budget whose hour has ended, with its day if that ended, too.
struct ended_budget {
    demand_scope scope = demand_scope::global;
    budget_name name;
    std::optional<window_demand> hour;
    std::optional<window_demand> day;
};

/// Fetches what has ended since the last call. Threads: any.
std::vector<ended_budget> take_ended(series_limiter& limiter);

}  // namespace seriesgate
