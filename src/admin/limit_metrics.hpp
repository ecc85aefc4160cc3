/// The limiter's figures as metrics, and budgets in the order of their demand.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

#include "base/metrics.hpp"
#include "limit/figures.hpp"

namespace seriesgate {

/// Windows, exempt series, and the budgets that refuse or have most demand. A gate against label explosions must not
/// cause one: at most 100 tenants, 100 groups of each limit, and 1000 groups of all limits. Where 1000 are too few, all
/// limits get an equal number. /stats shows all.
void write(exposition& out, const limiter_figures& figures);

// --- Order by demand.

using budget_list = std::vector<const budget_figures*>;

/// Series that asked for admission in this hour: admitted plus refused.
inline std::uint64_t hourly_demand(const budget_figures& of) noexcept {
    return of.hourly.series_current + of.hourly.series_refused;
}

/// The same, plus those that the day refused.
inline std::uint64_t whole_demand(const budget_figures& of) noexcept {
    return hourly_demand(of) + of.daily.series_refused + (of.active ? of.active->series_refused : 0);
}

/// Those with most demand first; stable.
template <class Demand>
budget_list by_demand(const std::vector<budget_figures>& budgets, Demand demand) {
    budget_list sorted;
    for (const budget_figures& each : budgets) sorted.push_back(&each);
    std::ranges::stable_sort(sorted, std::greater{}, [&](const budget_figures* each) { return demand(*each); });
    return sorted;
}

}  // namespace seriesgate
