/// Which budgets somebody asks for.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>

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

}  // namespace seriesgate
