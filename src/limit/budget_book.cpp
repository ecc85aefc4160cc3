#include "limit/budget_book.hpp"

#include <algorithm>
#include <utility>

#include "series/text.hpp"

namespace seriesgate {
namespace {

/// Whether the budgets of one limit mean the same under the other.
bool same_groups(const label_limit& one, const label_limit& other) {
    return one.name == other.name && one.each == other.each && one.per_tenant == other.per_tenant;
}

/// The tenant that a key begins with, in a limit that has budgets for each.
std::string tenant_of(std::string_view key) {
    auto parts = split_key(key);
    return parts.empty() ? std::string{} : std::move(parts.front());
}

/// A tenant or group that is really called `__overflow__` belongs where it says.
bool is_named_overflow(const label_limit& limit, std::string_view key) {
    const auto parts = split_key(key);
    return (!limit.each.empty() || limit.per_tenant) &&
           std::ranges::all_of(parts, [](const std::string& part) { return part == overflow_name; });
}

/// What the rules say about a budget. That for overflow is found under the name `__overflow__`, as an override may be.
struct ruling {
    series_maxima maxima;
    limit_mode mode = limit_mode::enforce;
};

ruling ruling_of(const limit_rules& rules, const budget_role& role, std::string_view key) {
    switch (role.kind) {
        case budget_kind::global:
            return {.maxima = rules.global};
        case budget_kind::exempt:
            return {};
        case budget_kind::tenant:
            return {.maxima = maxima_of(rules.tenants, role.overflow ? overflow_name : key),
                    .mode = rules.tenants.mode};
        case budget_kind::group:
            break;
    }
    const label_limit& limit = rules.limits[role.limit];
    if (limit.overrides.empty()) return {.maxima = limit.maxima, .mode = limit.mode};
    return {.maxima = maxima_of(limit, role.overflow ? overflow_group(limit) : group_of(limit, key)),
            .mode = limit.mode};
}

}  // namespace

budget_name name_of(const limit_rules& rules, const budget_role& role, std::string_view key) {
    budget_name name{.limit = {}, .tenant = {}, .has_tenant = false, .group = {}, .overflow = role.overflow};
    if (role.kind == budget_kind::tenant) {
        name.has_tenant = true;
        name.tenant = role.overflow ? std::string{overflow_name} : readable(key);
    }
    if (role.kind == budget_kind::group) {
        const label_limit& limit = rules.limits[role.limit];
        name.limit = limit.name;
        name.group = role.overflow ? overflow_group(limit) : group_of(limit, key);
        for (auto& [label, value] : name.group) value = readable(value);
        name.has_tenant = limit.per_tenant;
        if (limit.per_tenant) name.tenant = role.overflow ? std::string{overflow_name} : readable(tenant_of(key));
    }
    return name;
}

budget_book::budget_book(std::shared_ptr<const limit_rules> rules)
    : rules_(std::move(rules)), limits_(rules_->limits.size()) {
    exempt_.role.kind = budget_kind::exempt;
    apply_rules(global_, {});
}

void budget_book::find(tenant_of_request& tenant, const rule_selections::one& selection,
                       std::vector<budget_pair*>& found) {
    found.clear();
    if (selection.exempt()) {
        found.push_back(&exempt_);
        return;
    }
    found.push_back(&global_);
    if (tenant.budget == nullptr) tenant.budget = find_tenant(tenant.name);
    found.push_back(tenant.budget);
    for (std::size_t i = 0; i < selection.size(); ++i) {
        const auto key = selection.key(i);
        const std::size_t limit = selection.limit_index(i);
        found.push_back(key ? find_group(limit, *key) : limits_[limit].overflow.get());
    }
}

void budget_book::make_missing(tenant_of_request& tenant, const rule_selections::one& selection,
                               std::vector<budget_pair*>& found) {
    // The global one is the first and always there; exempt series have no other.
    if (found.size() > 1 && found[1] == nullptr) found[1] = tenant.budget = &make_tenant(tenant.name);
    for (std::size_t i = 2; i < found.size(); ++i)
        if (found[i] == nullptr) found[i] = &make_group(selection.limit_index(i - 2), selection.key(i - 2));
}

bool budget_book::shares_overflow(std::string_view tenant) const {
    if (tenant == overflow_name) return true;
    const bool room = tenants_.bounded < rules_->tenants.tenants_max && tenant.size() <= group_key_bytes_max;
    return !room && !is_overridden({.kind = budget_kind::tenant}, tenant);
}

bool budget_book::shares_overflow(std::size_t limit, std::string_view key) const {
    const label_limit& rule = rules_->limits[limit];
    if (is_named_overflow(rule, key)) return true;
    const bool room = limits_[limit].bounded < rule.groups_max && key.size() <= group_key_bytes_max;
    return !room && !is_overridden({.kind = budget_kind::group, .limit = static_cast<std::uint32_t>(limit)}, key);
}

bool budget_book::is_overridden(const budget_role& role, std::string_view key) const {
    if (role.kind == budget_kind::tenant) return rules_->tenants.overrides.contains(key);
    const label_limit& rule = rules_->limits[role.limit];
    return !rule.overrides.empty() &&
           std::ranges::find(rule.overrides, group_of(rule, key), &group_override::group) != rule.overrides.end();
}

void budget_book::count_bounded(shelf& of) const {
    of.bounded = static_cast<std::size_t>(std::ranges::count_if(
        of.by_key, [this](const auto& entry) { return !is_overridden(entry.second.role, entry.first); }));
}

budget_pair* budget_book::find_tenant(std::string_view tenant) {
    if (const auto known = tenants_.by_key.find(tenant); known != tenants_.by_key.end()) return &known->second;
    return shares_overflow(tenant) ? tenants_.overflow.get() : nullptr;
}

budget_pair* budget_book::find_group(std::size_t limit, std::string_view key) {
    shelf& of = limits_[limit];
    if (const auto known = of.by_key.find(key); known != of.by_key.end()) return &known->second;
    return shares_overflow(limit, key) ? of.overflow.get() : nullptr;
}

budget_pair& budget_book::make_tenant(std::string_view tenant) {
    const budget_role role{.kind = budget_kind::tenant, .overflow = shares_overflow(tenant), .limit = 0};
    return role.overflow ? make_overflow(tenants_, role) : open(tenants_, tenant, role);
}

/// @param key nothing for one that is too long.
budget_pair& budget_book::make_group(std::size_t limit, std::optional<std::string_view> key) {
    const budget_role role{.kind = budget_kind::group,
                           .overflow = !key || shares_overflow(limit, *key),
                           .limit = static_cast<std::uint32_t>(limit)};
    return role.overflow ? make_overflow(limits_[limit], role) : open(limits_[limit], *key, role);
}

budget_pair& budget_book::make_overflow(shelf& of, const budget_role& role) {
    if (!of.overflow) {
        of.overflow = std::make_unique<budget_pair>();
        of.overflow->role = role;
        apply_rules(*of.overflow, {});
    }
    return *of.overflow;
}

budget_pair& budget_book::open(shelf& of, std::string_view key, const budget_role& role) {
    const auto [entry, made] = of.by_key.try_emplace(std::string{key});
    if (made) {
        entry->second.role = role;
        apply_rules(entry->second, key);
        if (!is_overridden(role, key)) ++of.bounded;
    }
    return entry->second;
}

/// Maxima and mode as the rules have them.
void budget_book::apply_rules(budget_pair& pair, std::string_view key) const {
    const ruling wanted = ruling_of(*rules_, pair.role, key);
    pair.hourly.set_max(wanted.maxima.hourly);
    pair.daily.set_max(wanted.maxima.daily);
    pair.mode = rules_->mode == limit_mode::observe ? limit_mode::observe : wanted.mode;
}

void budget_book::reconfigure(std::shared_ptr<const limit_rules> rules) {
    std::vector<shelf> kept(rules->limits.size());
    for (std::size_t i = 0; i < kept.size(); ++i)
        for (std::size_t old = 0; old < limits_.size(); ++old)
            if (same_groups(rules->limits[i], rules_->limits[old])) kept[i] = std::move(limits_[old]);
    for (std::size_t i = 0; i < kept.size(); ++i) {
        for (auto& [key, pair] : kept[i].by_key) pair.role.limit = static_cast<std::uint32_t>(i);
        if (kept[i].overflow) kept[i].overflow->role.limit = static_cast<std::uint32_t>(i);
    }
    limits_ = std::move(kept);
    rules_ = std::move(rules);
    for_each([this](budget_pair& pair, std::string_view key) { apply_rules(pair, key); });
    count_bounded(tenants_);
    for (shelf& limit : limits_) count_bounded(limit);
}

void budget_book::drop_unused(bool day_ends) {
    const auto counted = [](const budget& of) { return of.current() + of.beyond() != 0; };
    const auto is_unused = [&](const budget_pair& pair) {
        return !counted(pair.hourly) && (day_ends || !counted(pair.daily));
    };
    const auto drop = [&](shelf& from) {
        std::erase_if(from.by_key, [&](const auto& entry) { return is_unused(entry.second); });
        if (from.overflow && is_unused(*from.overflow)) from.overflow.reset();
        count_bounded(from);
    };
    drop(tenants_);
    for (shelf& limit : limits_) drop(limit);
}

// The format: counts of the global budget and of the exempt series; the tenants; the number of limits, and for each its
// name, whether its budgets are the tenants' own (a byte), the number and names of its labels, and its groups.
// Tenants or groups: their number, key and counts of each, then a byte: 1 if the counts of the overflow budget follow.

namespace {

/// A bound for damage: more budgets than fit in any memory.
constexpr std::uint64_t budgets_max = std::uint64_t{1} << 32;

void save_counts(const budget_pair& pair, state_encoder& out) {
    pair.hourly.save(out);
    pair.daily.save(out);
}

/// Adds to what is there: several tenants or groups of a saved book may share the overflow budget of this one.
void load_counts(budget_pair& into, state_decoder& in) {
    budget hourly;
    budget daily;
    hourly.load(in);
    daily.load(in);
    into.hourly.absorb(hourly);
    into.daily.absorb(daily);
}

}  // namespace

void budget_book::save(state_encoder& out) const {
    const auto save_shelf = [&out](const shelf& of) {
        out.number(static_cast<std::uint64_t>(of.by_key.size()));
        for (const auto& [key, pair] : of.by_key) {
            out.text(key);
            save_counts(pair, out);
        }
        out.number(static_cast<std::uint8_t>(of.overflow ? 1 : 0));
        if (of.overflow) save_counts(*of.overflow, out);
    };
    save_counts(global_, out);
    save_counts(exempt_, out);
    save_shelf(tenants_);
    out.number(static_cast<std::uint64_t>(limits_.size()));
    for (std::size_t i = 0; i < limits_.size(); ++i) {
        const label_limit& rule = rules_->limits[i];
        out.text(rule.name);
        out.number(static_cast<std::uint8_t>(rule.per_tenant ? 1 : 0));
        out.number(static_cast<std::uint64_t>(rule.each.size()));
        for (const std::string& label : rule.each) out.text(label);
        save_shelf(limits_[i]);
    }
}

void budget_book::load(state_decoder& in) {
    load_counts(global_, in);
    load_counts(exempt_, in);
    load_shelf(in, &tenants_, {.kind = budget_kind::tenant, .overflow = false, .limit = 0}, 0);

    for (std::uint64_t limits = in.count(budgets_max); limits > 0 && in.good(); --limits) {
        label_limit saved;
        saved.name = in.text();
        saved.per_tenant = in.number<std::uint8_t>() != 0;
        for (std::uint64_t left = in.count(budgets_max); left > 0 && in.good(); --left) saved.each.push_back(in.text());
        const auto rule =
            std::ranges::find_if(rules_->limits, [&](const label_limit& each) { return same_groups(each, saved); });
        const auto index = static_cast<std::size_t>(rule - rules_->limits.begin());
        load_shelf(in, rule == rules_->limits.end() ? nullptr : &limits_[index],
                   {.kind = budget_kind::group, .overflow = false, .limit = static_cast<std::uint32_t>(index)},
                   saved.each.size() + (saved.per_tenant ? 1 : 0));
    }
    for_each([this](budget_pair& pair, std::string_view key) { apply_rules(pair, key); });
}

/// @param into null: what is read is left out.
/// @param parts that a group's key must have.
void budget_book::load_shelf(state_decoder& in, shelf* into, const budget_role& role, std::size_t parts) {
    budget_pair left_out;
    const bool tenants = role.kind == budget_kind::tenant;
    for (std::uint64_t left = in.count(budgets_max); left > 0 && in.good(); --left) {
        const std::string key = in.text();
        if (!tenants && split_key(key).size() != parts) in.fail();
        if (!in.good()) return;
        load_counts(into == nullptr ? left_out : tenants ? make_tenant(key) : make_group(role.limit, key), in);
    }
    if (in.number<std::uint8_t>() == 0) return;
    budget_role overflow = role;
    overflow.overflow = true;
    load_counts(into == nullptr ? left_out : make_overflow(*into, overflow), in);
}

}  // namespace seriesgate
