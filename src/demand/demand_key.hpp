/// What a budget's demand is filed under.
#pragma once

#include <string>
#include <string_view>

#include "limit/budget.hpp"
#include "limit/rules.hpp"

namespace seriesgate {

/// Of a budget in limiter_figures::tenants or ::limits.
demand_scope scope_of(const budget_name& name);

/// A text that differs when scope or name do.
std::string demand_key(demand_scope scope, const budget_name& name);

/// Whether it stands for a part, a tenant or a group: there may be any number of these. @param key not empty.
bool is_part(std::string_view key);

/// Whether demand_key could have made it, as far as its scope tells.
bool is_demand_key(std::string_view key);

}  // namespace seriesgate
