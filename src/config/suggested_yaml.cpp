#include "config/suggested_yaml.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "config/rule_keys.hpp"
#include "config/variable_escape.hpp"
#include "config/yaml_text.hpp"
#include "core/text.hpp"
#include "limit/rules.hpp"
#include "series/label.hpp"

namespace seriesgate {
namespace {

constexpr std::size_t overrides_shown_max = 20;

std::string text_of(yaml_value value) {
    escape_variables(value);
    return yaml_text(value);
}

yaml_value below(std::string_view key, yaml_value value) {
    return yaml_map({yaml_entry(key, std::move(value))});
}

std::string tenant_yaml(const tenant_limits& tenants, const std::string& tenant, const series_maxima& maxima) {
    const auto own = tenants.answers.find(tenant);
    const auto answer = own == tenants.answers.end() ? std::nullopt : std::optional{own->second};
    return text_of(below("tenants", below("overrides", below(tenant, show_tenant(maxima, answer)))));
}

/// @param changed the override that is to be shown, if there are too many; null: none.
std::string limit_yaml(label_limit limit, const group_override* changed) {
    std::size_t left_out = 0;
    if (limit.overrides.size() > overrides_shown_max) {
        left_out = limit.overrides.size() - (changed == nullptr ? 0 : 1);
        limit.overrides = changed == nullptr ? std::vector<group_override>{} : std::vector{*changed};
    }
    std::string text = text_of(below("limits", yaml_list({show_limit(limit)})));
    if (left_out != 0) text += "    # and the other " + std::to_string(left_out) + " overrides as they are\n";
    return text;
}

std::string group_yaml(label_limit limit, const group_labels& group, const series_maxima& maxima) {
    const auto found = std::ranges::find(limit.overrides, group, &group_override::group);
    const group_override changed{.group = group, .maxima = maxima};
    if (found == limit.overrides.end()) {
        limit.overrides.push_back(changed);
    } else {
        *found = changed;
    }
    return limit_yaml(std::move(limit), &changed);
}

/// Labels as senders have them. @return nothing if they are no UTF-8.
std::optional<group_labels> written(const group_labels& shown) {
    group_labels made;
    for (const auto& [label, value] : shown) {
        made.emplace_back(label, unreadable(value));
        if (!is_utf8(made.back().second)) return std::nullopt;
    }
    return made;
}

}  // namespace

std::optional<std::string> suggested_yaml(const limit_rules& rules, demand_scope scope, const budget_name& name,
                                          const series_maxima& maxima) {
    if (name.overflow) return std::nullopt;
    if (scope == demand_scope::global) return text_of(show_maxima(maxima));
    if (scope == demand_scope::tenants) return text_of(below("tenants", below("default", show_maxima(maxima))));
    if (scope == demand_scope::tenant) {
        const std::string tenant = unreadable(name.tenant);
        return is_utf8(tenant) ? std::optional{tenant_yaml(rules.tenants, tenant, maxima)} : std::nullopt;
    }
    const auto of_both = [&] { return yaml_scalar(std::to_string(std::max(maxima.hourly, maxima.daily))); };
    if (name.limit == own_limit_names[exempt_limit]) return text_of(below("maxExemptSeries", of_both()));
    if (name.limit == own_limit_names[ignored_values_limit]) return text_of(below("maxIgnoredValues", of_both()));
    const auto limit = std::ranges::find(rules.limits, name.limit, &label_limit::name);
    if (limit == rules.limits.end()) return std::nullopt;
    if (scope == demand_scope::limit || limit->each.empty()) {
        label_limit changed = *limit;
        changed.maxima = maxima;
        return limit_yaml(std::move(changed), nullptr);
    }
    const auto group = written(name.group);
    return group ? std::optional{group_yaml(*limit, *group, maxima)} : std::nullopt;
}

}  // namespace seriesgate
