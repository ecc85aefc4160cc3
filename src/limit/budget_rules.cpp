#include "limit/budget_rules.hpp"

#include <algorithm>
#include <initializer_list>

#include "limit/group_key.hpp"
#include "series/label.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace seriesgate {
namespace {

/// The tenant that a key begins with, in a limit that has budgets for each.
std::string tenant_of(std::string_view key) {
    auto parts = split_key(key);
    return parts.empty() ? std::string{} : std::move(parts.front());
}

}  // namespace

group_labels group_of(const label_limit& limit, std::string_view key) {
    auto values = split_key(key);
    values.resize((limit.per_tenant ? 1 : 0) + limit.each.size());
    group_labels group;
    std::size_t value = limit.per_tenant ? 1 : 0;
    for (const std::string& label : limit.each) group.emplace_back(label, std::move(values[value++]));
    return group;
}

group_labels overflow_group(const label_limit& limit) {
    group_labels group;
    for (const std::string& label : limit.each) group.emplace_back(label, overflow_name);
    return group;
}

budget_name name_of(const compiled_rules& rules, const budget_role& role, std::string_view key) {
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

ruling ruling_of(const compiled_rules& rules, const budget_role& role, std::string_view key) {
    const auto mode = [&rules](limit_mode own) { return rules.mode == limit_mode::observe ? rules.mode : own; };
    switch (role.kind) {
        case budget_kind::global:
            return {.maxima = rules.global, .mode = rules.mode};
        case budget_kind::tenant:
            return {.maxima = maxima_of(rules.tenants, role.overflow ? overflow_name : key),
                    .mode = mode(rules.tenants.mode)};
        case budget_kind::group:
            break;
    }
    const label_limit& limit = rules.limits[role.limit];
    const auto* const own = override_of(rules, role.limit, role.overflow ? std::nullopt : std::optional{key});
    return {.maxima = own == nullptr ? limit.maxima : *own, .mode = mode(limit.mode)};
}

bool is_overridden(const compiled_rules& rules, const budget_role& role, std::string_view key) {
    if (role.kind == budget_kind::tenant) return rules.tenants.overrides.contains(key);
    return override_of(rules, role.limit, key) != nullptr;
}

bool is_named_overflow(const label_limit& limit, std::string_view key) {
    const auto parts = split_key(key);
    return (!limit.each.empty() || limit.per_tenant) &&
           std::ranges::all_of(parts, [](const std::string& part) { return part == overflow_name; });
}

bool same_groups(const label_limit& one, const label_limit& other) {
    return one.name == other.name && one.each == other.each && one.per_tenant == other.per_tenant;
}

namespace {

/// A number for some texts, whose order and bounds count.
class text_identity {
    std::string all_;

  public:
    void add(std::string_view text) { append_key_part(all_, text); }
    void add(std::uint64_t number) { add(std::to_string(number)); }
    [[nodiscard]] std::uint64_t value() const { return XXH3_64bits(all_.data(), all_.size()) | 1; }
};

}  // namespace

std::vector<shelf_rules> shelf_rules_of(const compiled_rules& rules) {
    std::vector<shelf_rules> all;
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

}  // namespace seriesgate
