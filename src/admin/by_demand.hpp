/// The budgets that matter most.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

#include "limit/figures.hpp"

namespace seriesgate {

/// The budgets with the most demand first, at most `shown_max`; in their order where it is the same.
template <class Demand>
std::vector<const budget_figures*> by_demand(const std::vector<budget_figures>& budgets, std::uint64_t shown_max,
                                             Demand demand) {
    std::vector<const budget_figures*> sorted;
    sorted.reserve(budgets.size());
    for (const budget_figures& each : budgets) sorted.push_back(&each);
    std::ranges::stable_sort(sorted, std::greater{}, [&](const budget_figures* each) { return demand(*each); });
    if (sorted.size() > shown_max) sorted.resize(shown_max);
    return sorted;
}

}  // namespace seriesgate
