#include "config/effective.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "config/checks.hpp"
#include "config/environment.hpp"
#include "config/keys.hpp"
#include "core/text.hpp"
#include "series/label.hpp"

namespace seriesgate {
namespace {

constexpr std::size_t shown_bytes_max = 100;
constexpr std::size_t overrides_shown_max = 20;

void escape_variables(YAML::Node value) {
    if (value.IsScalar()) value = with_escaped_variables(value.Scalar());
    if (value.IsSequence())
        for (auto item : value) escape_variables(item);
    if (value.IsMap())
        for (auto member : value) escape_variables(member.second);
}

std::string text_of(const YAML::Node& map) {
    escape_variables(map);
    return yaml_text(map);
}

/// Whoever limits no active series is not shown that key.
void leave_out_active(YAML::Node of) {
    if (of.IsSequence())
        for (auto item : of) leave_out_active(item);
    if (!of.IsMap()) return;
    if (const YAML::Node maximum = of["maxActiveSeries"]; maximum && maximum.IsScalar() && maximum.Scalar() == "0")
        of.remove("maxActiveSeries");
    for (auto member : of)
        if (member.first.Scalar() != "group") leave_out_active(member.second);
}

std::string suggested_text(const YAML::Node& map, const limit_rules& rules) {
    if (active_maximum_key(rules).empty()) leave_out_active(map);
    return text_of(map);
}

YAML::Node below(const std::string& key, const YAML::Node& value) {
    YAML::Node map{YAML::NodeType::Map};
    map.force_insert(key, value);
    return map;
}

/// Puts a value into the section that its dotted name says.
void put(YAML::Node map, std::string name, const YAML::Node& value) {
    if (const auto dot = name.find('.'); dot != std::string::npos) {
        const std::string section = name.substr(0, dot);
        if (!map[section]) map[section] = YAML::Node{YAML::NodeType::Map};
        put(map[section], name.substr(dot + 1), value);
    } else {
        map.force_insert(name, value);
    }
}

YAML::Node limits_with(const label_limit& limit) {
    YAML::Node list{YAML::NodeType::Sequence};
    list.push_back(show_fields(limit_fields(), limit));
    return below("limits", list);
}

/// The item of a list of one, `limits:`, as a line or lines of their own.
std::string item_text(std::string_view list) {
    constexpr std::string_view in_one_line = "limits: [";
    if (!list.starts_with(in_one_line)) return std::string{list.substr(list.find('\n') + 1)};
    return "  - " + std::string{list.substr(in_one_line.size(), list.rfind(']') - in_one_line.size())} + '\n';
}

/// @param changed the override that is shown, if there are too many; null: none.
std::string limit_yaml(label_limit limit, const group_override* changed, const limit_rules& rules) {
    std::size_t left_out = 0;
    if (limit.overrides.size() > overrides_shown_max) {
        left_out = limit.overrides.size() - (changed == nullptr ? 0 : 1);
        limit.overrides = changed == nullptr ? std::vector<group_override>{} : std::vector{*changed};
    }
    std::string text = suggested_text(limits_with(limit), rules);
    if (left_out != 0) text += "    # and the other " + std::to_string(left_out) + " overrides as they are\n";
    return text;
}

std::string group_yaml(label_limit limit, const group_labels& group, const series_maxima& maxima,
                       const limit_rules& rules) {
    const auto found = std::ranges::find(limit.overrides, group, &group_override::group);
    const group_override changed{.group = group, .maxima = maxima};
    if (found == limit.overrides.end())
        limit.overrides.push_back(changed);
    else
        *found = changed;
    return limit_yaml(std::move(limit), &changed, rules);
}

std::optional<std::string> tenant_yaml(const limit_rules& rules, const std::string& tenant,
                                       const series_maxima& maxima) {
    if (!is_utf8(tenant)) return std::nullopt;
    const YAML::Node shown = show_tenant(rules.tenants, tenant, maxima);
    return suggested_text(below("tenants", below("overrides", below(tenant, shown))), rules);
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

std::string effective_yaml(const config& settings) {
    std::string text;
    YAML::Node root{YAML::NodeType::Map};
    for (const config_key& key : config_keys()) {
        if (key.about.name == "limits" && !settings.rules.limits.empty()) {  // one at a time: nodes take much memory
            text += text_of(root) + "limits:\n";
            root.reset(YAML::Node{YAML::NodeType::Map});
            for (const label_limit& limit : settings.rules.limits) {
                text += item_text(text_of(limits_with(limit)));
            }
        } else if (const YAML::Node shown = key.show(settings); !shown.IsNull()) {
            put(root, key.about.name, shown);
        }
    }
    return text + text_of(root);
}

std::string file_scalar(const std::string& text) {
    return yaml_scalar(with_escaped_variables(text));
}

std::vector<std::string> changes(const config& before, const config& after, key_effect of) {
    std::vector<std::string> found;
    for (const config_key& key : config_keys()) {
        if (key.effect != of || !key.same_as.empty() || key.same(before, after)) continue;
        std::string& line = found.emplace_back(key.about.name);
        if (key.about.type.form != value_form::scalar) continue;  // to show a list may take much memory
        const YAML::Node now = key.show(after);
        const YAML::Node old = key.show(before);
        if (!now.IsScalar() || !old.IsScalar()) continue;
        const std::string was = yaml_line(old);
        const std::string is = yaml_line(now);
        if (was != is && was.size() <= shown_bytes_max && is.size() <= shown_bytes_max) line += " " + was + " -> " + is;
    }
    return found;
}

std::optional<std::string> suggested_yaml(const limit_rules& rules, demand_scope scope, const budget_name& name,
                                          const series_maxima& maxima) {
    if (name.overflow) return std::nullopt;
    if (scope == demand_scope::global) return suggested_text(show_maxima(maxima), rules);
    if (scope == demand_scope::tenants)
        return suggested_text(below("tenants", below("default", show_maxima(maxima))), rules);
    if (scope == demand_scope::tenant) return tenant_yaml(rules, unreadable(name.tenant), maxima);
    const YAML::Node of_both{std::to_string(std::max(maxima.hourly, maxima.daily))};
    if (name.limit == own_limit_names[exempt_limit]) return text_of(below("maxExemptSeries", of_both));
    if (name.limit == own_limit_names[ignored_values_limit]) return text_of(below("maxIgnoredValues", of_both));
    const auto limit = std::ranges::find(rules.limits, name.limit, &label_limit::name);
    if (limit == rules.limits.end()) return std::nullopt;
    if (scope == demand_scope::limit || limit->each.empty()) {
        label_limit changed = *limit;
        for (group_override& each : changed.overrides)  // what one has left out follows its limit
            for (const auto of : {&series_maxima::hourly, &series_maxima::daily, &series_maxima::active})
                if (each.maxima.*of == limit->maxima.*of) each.maxima.*of = maxima.*of;
        changed.maxima = maxima;
        return limit_yaml(std::move(changed), nullptr, rules);
    }
    const auto group = written(name.group);
    return group ? std::optional{group_yaml(*limit, *group, maxima, rules)} : std::nullopt;
}

}  // namespace seriesgate
