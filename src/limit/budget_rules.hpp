/// What the rules say about one budget.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "limit/budget_name.hpp"
#include "limit/compiled_rules.hpp"

namespace seriesgate {

enum class budget_kind : std::uint8_t { global, tenant, group };

/// What a budget is for, beside the tenant or group that it is filed under.
struct budget_role {
    budget_kind kind = budget_kind::global;
    bool overflow = false;    ///< shared by the tenants or groups beyond the bound
    std::uint32_t limit = 0;  ///< of a group: index in compiled_rules::limits
};

/// The name of a limit's group, from its key. One that is not of this limit gives empty values for what it lacks.
group_labels group_of(const label_limit& limit, std::string_view key);
/// The name of the budget that the groups of a limit share which have none of their own.
group_labels overflow_group(const label_limit& limit);

/// @param key what the budget is filed under: the tenant's name, or see rule_selections::one::key.
budget_name name_of(const compiled_rules& rules, const budget_role& role, std::string_view key);

struct ruling {
    series_maxima maxima;
    limit_mode mode = limit_mode::enforce;
};

/// That for overflow is found under the name `__overflow__`, as an override may be.
ruling ruling_of(const compiled_rules& rules, const budget_role& role, std::string_view key);

/// Whether the tenant or group has maxima of its own, and so a budget whatever their number.
bool is_overridden(const compiled_rules& rules, const budget_role& role, std::string_view key);

/// A group that is really called `__overflow__` belongs where it says.
bool is_named_overflow(const label_limit& limit, std::string_view key);

/// Whether the budgets of one limit mean the same under the other.
bool same_groups(const label_limit& one, const label_limit& other);

/// By which rules series come to the budgets of one kind, as numbers that differ when the rules do; the same in every
/// process. Never 0.
struct shelf_rules {
    std::uint64_t matching;  ///< which series
    std::uint64_t sharing;   ///< which of them share the overflow budget
};

/// Of all kinds: the global budget (what is exempt from it), the tenants, then each limit.
std::vector<shelf_rules> shelf_rules_of(const compiled_rules& rules);

}  // namespace seriesgate
