#include "limit/ended_demand.hpp"

#include <utility>

#include "limit/budget_rules.hpp"
#include "limit/limiter.hpp"
#include "limit/limiter_state.hpp"

namespace seriesgate {

std::vector<ended_budget> take_ended(series_limiter& limiter) {
    auto entries = limiter.state().counts.lock()->book.take_ended();
    std::vector<ended_budget> named;
    named.reserve(entries.size());
    for (const ended_budgets::entry& each : entries) {
        ended_budget made{.scope = each.scope, .name = {}, .hour = each.hour, .day = each.day};
        const bool is_part = each.scope == demand_scope::tenant || each.scope == demand_scope::group;
        if (is_part) made.name = name_of(*each.rules, each.role, each.key);
        if (each.scope == demand_scope::limit) made.name.limit = each.rules->limits[each.role.limit].name;
        named.push_back(std::move(made));
    }
    return named;
}

}  // namespace seriesgate
