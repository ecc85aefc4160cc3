/// Budgets as people read them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "limit/admission.hpp"

namespace seriesgate {

/// `maxHourlySeries 10000 is spent (10000 series admitted)`, with whose limit it is in front when it is not the global
/// one: `tenant "team-a": ...`, `limit per-namespace{namespace="x"}: ...`.
std::string to_text(const spent_budget& spent);

/// `enforce` or `observe`, as in the configuration.
std::string_view to_text(limit_mode mode) noexcept;

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
