/// Which budgets somebody asks for.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "limit/figures.hpp"
#include "limit/rules.hpp"

namespace seriesgate {

/// A budget is shown if it is in line with all that is said.
struct budget_choice {
    std::uint64_t shown_max = std::numeric_limits<std::uint64_t>::max();  ///< of each list: those with the most demand
    std::optional<std::string> tenant{};  ///< as budget_name has it: its own budget, and those that limits have for it
    std::optional<std::string> limit{};   ///< the budgets of this limit

    [[nodiscard]] bool takes(const budget_name& name) const {
        return (!tenant || (name.has_tenant && name.tenant == *tenant)) && (!limit || name.limit == *limit);
    }
    bool operator==(const budget_choice&) const = default;
};

// --- The budgets that matter most.

using budget_list = std::vector<const budget_figures*>;

/// Series that wanted to come in this hour: those that did, and those that found no room.
inline std::uint64_t hourly_demand(const budget_figures& of) noexcept {
    return of.hourly.series_current + of.hourly.series_refused;
}

/// The same, with those that the day had no room for.
inline std::uint64_t whole_demand(const budget_figures& of) noexcept {
    return hourly_demand(of) + of.daily.series_refused;
}

/// The budgets that `takes` takes by their names, those with the most demand first; in their order where it is the
/// same.
template <class Demand, class Takes>
budget_list by_demand(const std::vector<budget_figures>& budgets, Demand demand, Takes takes) {
    budget_list sorted;
    for (const budget_figures& each : budgets)
        if (takes(each.name)) sorted.push_back(&each);
    std::ranges::stable_sort(sorted, std::greater{}, [&](const budget_figures* each) { return demand(*each); });
    return sorted;
}

/// All of them.
template <class Demand>
budget_list by_demand(const std::vector<budget_figures>& budgets, Demand demand) {
    return by_demand(budgets, demand, [](const budget_name&) { return true; });
}

}  // namespace seriesgate
