/// Whose budget it is.
#pragma once

#include <string>

#include "limit/rules.hpp"

namespace seriesgate {

/// For people: all of it is valid UTF-8.
struct budget_name {
    std::string limit;  ///< of a label limit; empty for a tenant's and the global budget
    std::string tenant;
    bool has_tenant = false;
    group_labels group;
    bool overflow = false;

    /// Whether it is the one budget of a label limit.
    [[nodiscard]] bool is_whole_limit() const noexcept { return !limit.empty() && group.empty() && !has_tenant; }
};

}  // namespace seriesgate
