#include "limit/budget.hpp"

#include <algorithm>
#include <functional>
#include <new>
#include <utility>

#include "limit/rules.hpp"
#include "series/fingerprint.hpp"
#include "series/label.hpp"

namespace seriesgate {
namespace {

/// Hashes a list of texts, including their order and boundaries.
class text_identity {
    std::string all_;

  public:
    void add(std::string_view text) { append_key_part(all_, text); }
    void add(std::uint64_t number) { add(std::to_string(number)); }
    [[nodiscard]] std::uint64_t value() const { return XXH3_64bits(all_.data(), all_.size()) | 1; }
};

demand_scope scope_of(const compiled_rules& rules, const budget_role& role) {
    if (role.kind == budget_kind::global) return demand_scope::global;
    if (role.kind == budget_kind::tenant) return demand_scope::tenant;
    const label_limit& limit = rules.limits[role.limit];
    return limit.each.empty() && !limit.per_tenant ? demand_scope::limit : demand_scope::group;
}

bool same_start(const std::optional<window_demand>& one, const std::optional<window_demand>& other) {
    return one.has_value() == other.has_value() && (!one || one->start == other->start);
}

}  // namespace

group_labels group_of(const label_limit& limit, std::optional<std::string_view> key) {
    if (key && limit.per_tenant) take_key_part(*key);
    group_labels group;
    for (const std::string& label : limit.each)
        group.emplace_back(label, key ? take_key_part(*key).value_or("") : overflow_name);
    return group;
}

budget_name name_of(const compiled_rules& rules, const budget_role& role, std::string_view key) {
    budget_name name{.overflow = role.overflow};
    name.has_tenant = role.kind == budget_kind::tenant;
    std::string_view tenant = key;
    if (role.kind == budget_kind::group) {
        const label_limit& limit = rules.limits[role.limit];
        name.limit = limit.name;
        name.group = group_of(limit, role.overflow ? std::nullopt : std::optional{key});
        for (auto& [label, value] : name.group) value = readable(value);
        name.has_tenant = limit.per_tenant;
        tenant = take_key_part(key).value_or("");
    }
    if (name.has_tenant) name.tenant = readable(role.overflow ? overflow_name : tenant);
    return name;
}

ruling ruling_of(const compiled_rules& rules, const budget_role& role, std::string_view key) {
    const auto mode = [&rules](limit_mode own) { return rules.mode == limit_mode::observe ? rules.mode : own; };
    if (role.kind == budget_kind::global) return {.maxima = rules.global, .mode = rules.mode};
    if (role.kind == budget_kind::tenant)
        return {.maxima = maxima_of(rules.tenants, role.overflow ? overflow_name : key),
                .mode = mode(rules.tenants.mode)};
    const label_limit& limit = rules.limits[role.limit];
    const auto* const own = override_of(rules, role.limit, role.overflow ? std::nullopt : std::optional{key});
    return {.maxima = own == nullptr ? limit.maxima : *own, .mode = mode(limit.mode)};
}

bool is_overridden(const compiled_rules& rules, const budget_role& role, std::string_view key) {
    if (role.kind == budget_kind::tenant) return rules.tenants.overrides.contains(key);
    return override_of(rules, role.limit, key) != nullptr;
}

bool is_named_overflow(const label_limit& limit, std::string_view key) {
    if (limit.each.empty() && !limit.per_tenant) return false;
    while (const auto part = take_key_part(key))
        if (*part != overflow_name) return false;
    return true;
}

bool same_groups(const label_limit& one, const label_limit& other) {
    return one.name == other.name && one.each == other.each && one.per_tenant == other.per_tenant;
}

std::vector<limit_budgets_rules> limit_budgets_rules_of(const compiled_rules& rules) {
    std::vector<limit_budgets_rules> all;
    const auto add = [&all](const text_identity& matching, const text_identity& sharing) {
        all.push_back({.matching = matching.value(), .sharing = sharing.value()});
    };
    text_identity exempt;
    for (const selector& each : rules.exempt) exempt.add(each.to_string());
    add(exempt, {});
    text_identity tenants;
    tenants.add(rules.tenants.tenants_max);
    for (const auto& [tenant, maxima] : rules.tenants.overrides) tenants.add(tenant);
    add({}, tenants);
    for (const label_limit& limit : rules.limits) {
        text_identity matching;
        text_identity sharing;
        if (limit.match) matching.add(limit.match->to_string());
        sharing.add(limit.groups_max);
        for (const group_override& each : limit.overrides)
            for (const auto& [label, value] : each.group) sharing.add(value);
        add(matching, sharing);
    }
    return all;
}

std::uint64_t ended_budgets::entry::rank() const noexcept {
    const auto series_in = [](const std::optional<window_demand>& window) { return window ? window->series : 0; };
    return std::max({series_in(hour), series_in(day), active});
}

void ended_budgets::note(beginnings& all, const beginning& one) noexcept {
    std::rotate(all.begin(), all.begin() + 1, all.end());
    all.back() = one;
}

std::optional<window_demand> ended_budgets::demand_in(const beginnings& all, const numbered& window) {
    const auto found = std::ranges::find(all, window.number, &beginning::number);
    if (found == all.end()) return std::nullopt;
    return window_demand{.start = found->start, .series = window.series};
}

void ended_budgets::add(const std::shared_ptr<const compiled_rules>& rules, const budget_role& role,
                        std::string_view key, const numbered& hour, const std::optional<numbered>& day,
                        std::uint64_t active) noexcept {
    try {
        const demand_scope scope = scope_of(*rules, role);
        entry made{.rules = rules,
                   .scope = scope,
                   .role = role,
                   .hour = demand_in(hours_, hour),
                   .day = day ? demand_in(days_, *day) : std::nullopt,
                   .active = active};
        if (made.rank() == 0) return;
        if (!is_part(scope)) return add_largest(std::move(made));
        if (!role.overflow && !is_overridden(*rules, role, key)) {
            entry largest = made;
            largest.scope = scope == demand_scope::tenant ? demand_scope::tenants : demand_scope::limit;
            add_largest(std::move(largest));
        }
        if (made.rank() < rank_min_) return;
        made.key = key;
        add_entry(std::move(made));
    } catch (const std::bad_alloc&) {
    }
}

void ended_budgets::add_entry(entry&& made) {
    entries_.push_back(std::move(made));
    if (entries_.size() < 2 * kept_min) return;
    const auto last = entries_.begin() + kept_min - 1;
    std::ranges::nth_element(entries_, last, std::greater{}, &entry::rank);
    rank_min_ = last->rank();
    entries_.resize(kept_min);
}

/// Entries of one limit arrive one after the other.
void ended_budgets::add_largest(entry&& made) {
    if (!largest_.empty()) {
        entry& last = largest_.back();
        const bool is_same = last.rules == made.rules && last.scope == made.scope &&
                             last.role.limit == made.role.limit && same_start(last.hour, made.hour) &&
                             same_start(last.day, made.day);
        if (is_same) {
            if (last.hour) last.hour->series = std::max(last.hour->series, made.hour->series);
            if (last.day) last.day->series = std::max(last.day->series, made.day->series);
            last.active = std::max(last.active, made.active);
            return;
        }
    }
    if (largest_.size() < largest_max) largest_.push_back(std::move(made));
}

std::vector<ended_budgets::entry> ended_budgets::take() noexcept {
    rank_min_ = 0;
    std::vector<entry> all = std::exchange(entries_, {});
    std::vector<entry> largest = std::exchange(largest_, {});
    try {
        all.insert(all.end(), std::make_move_iterator(largest.begin()), std::make_move_iterator(largest.end()));
    } catch (const std::bad_alloc&) {
    }
    return all;
}

}  // namespace seriesgate
