/// Which budgets a request asks for, and their order.
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

/// A budget must match all conditions that are set.
struct budget_choice {
    std::uint64_t shown_max = std::numeric_limits<std::uint64_t>::max();  ///< of each list
    std::optional<std::string> tenant{};  ///< as in budget_name: its own budget, and its budgets of limits
    std::optional<std::string> limit{};

    [[nodiscard]] bool takes(const budget_name& name) const {
        return (!tenant || (name.has_tenant && name.tenant == *tenant)) && (!limit || name.limit == *limit);
    }
    bool operator==(const budget_choice&) const = default;
};

// --- Order by demand.

using budget_list = std::vector<const budget_figures*>;

/// Series that asked for admission in this hour: admitted plus refused.
inline std::uint64_t hourly_demand(const budget_figures& of) noexcept {
    return of.hourly.series_current + of.hourly.series_refused;
}

/// The same, plus those that the day refused.
inline std::uint64_t whole_demand(const budget_figures& of) noexcept {
    return hourly_demand(of) + of.daily.series_refused;
}

/// The budgets that `takes` accepts by name, those with most demand first; stable.
template <class Demand, class Takes>
budget_list by_demand(const std::vector<budget_figures>& budgets, Demand demand, Takes takes) {
    budget_list sorted;
    for (const budget_figures& each : budgets)
        if (takes(each.name)) sorted.push_back(&each);
    std::ranges::stable_sort(sorted, std::greater{}, [&](const budget_figures* each) { return demand(*each); });
    return sorted;
}

template <class Demand>
budget_list by_demand(const std::vector<budget_figures>& budgets, Demand demand) {
    return by_demand(budgets, demand, [](const budget_name&) { return true; });
}

}  // namespace seriesgate
