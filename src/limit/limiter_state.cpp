#include "limit/limiter_state.hpp"

#include <cassert>

namespace seriesgate {
namespace {

/// 2^19 series, 4 MiB: an explosion of that many distinct series is refused without the lock.
constexpr unsigned refused_capacity_log2 = 19;

std::unique_ptr<window_sets> first_sets(commit_state& held, time_point now, limit_scope scope, set_kind set) {
    const compiled_rules& rules = *held.budgets.rules();
    if (set == set_kind::exact) {
        held.table = std::make_shared<series_table>();
    } else {
        held.hour = make_set(0, capacities_of(rules).hourly, rules.false_positive_rate);
        held.day = std::make_shared<day_set>(make_set(0, capacities_of(rules).daily, rules.false_positive_rate));
    }
    auto first = std::make_unique<window_sets>();
    first->table = held.table;
    first->hour_span = hour_of(now);
    first->day_span = day_of(now);
    first->hour = held.hour;
    first->day = held.day;
    first->rules = held.budgets.rules();
    first->grace_end = first->hour_span.start;
    held.hour_begins = minute_of(first->hour_span.start);
    held.minute = held.watched_since = first->minute_at(now);
    if (scope == limit_scope::fleet) {
        first->lapse = first->hour_span.start + first->rules->incumbent_grace;
        first->step_back = step_back_in_fleet_max;
    }
    return first;
}

}  // namespace

limiter_state::limiter_state(std::shared_ptr<const compiled_rules> rules, time_point now,
                             const hash_key& instance_identity, limit_scope of, set_kind set)
    : key(instance_identity),
      scope(of),
      refused(refused_capacity_log2),
      commit(budget_table{rules, key, set}),
      sets(first_sets(*commit.lock(), now, of, set)) {
    assert(sets.read()->is_whole());
    assert(scope == limit_scope::gate || set == set_kind::exact);
    commit.lock()->limit_numbers = names.numbers_of(rules->limits);
}

}  // namespace seriesgate
