// Lists and maps as a file would have them. Members are taken apart by structured bindings: one more of them, and this
// does not compile until it is shown, too.
#include <optional>

#include "config/rule_keys.hpp"
#include "config/shown.hpp"
#include "config/yaml_text.hpp"

namespace seriesgate {
namespace {

template <class Value>
yaml_member entry(std::string_view name, const Value& value) {
    return yaml_entry(name, yaml_scalar(shown(value)));
}

template <class Texts>
yaml_value list_of(const Texts& texts) {
    std::vector<yaml_value> items;
    for (const std::string& text : texts) items.push_back(yaml_scalar(text));
    return yaml_list(std::move(items));
}

void add_maxima(std::vector<yaml_member>& members, const series_maxima& maxima) {
    const auto& [hourly, daily] = maxima;
    members.push_back(entry("maxHourlySeries", hourly));
    members.push_back(entry("maxDailySeries", daily));
}

yaml_value group_of(const group_labels& group) {
    std::vector<yaml_member> labels;
    for (const auto& [label, value] : group) labels.push_back(entry(label, value));
    return yaml_map(std::move(labels));
}

yaml_value overrides_of(const std::vector<group_override>& overrides) {
    std::vector<yaml_value> items;
    for (const auto& [group, maxima] : overrides) {
        std::vector<yaml_member> members{yaml_entry("group", group_of(group))};
        add_maxima(members, maxima);
        items.push_back(yaml_map(std::move(members)));
    }
    return yaml_list(std::move(items));
}

}  // namespace

/// `maxGroups` and `overrides` speak of groups: without `each` they may not stand there.
yaml_value show_limit(const label_limit& limit) {
    const auto& [name, match, each, groups_max, maxima, mode, answer, per_tenant, overrides] = limit;
    std::vector<yaml_member> members{entry("name", name)};
    if (match) members.push_back(entry("match", match->to_string()));
    if (!each.empty()) members.push_back(yaml_entry("each", list_of(each)));
    if (!each.empty()) members.push_back(entry("maxGroups", groups_max));
    add_maxima(members, maxima);
    members.push_back(entry("mode", mode));
    if (answer) members.push_back(entry("onLimit", *answer));
    members.push_back(entry("perTenant", per_tenant));
    if (!overrides.empty()) members.push_back(yaml_entry("overrides", overrides_of(overrides)));
    return yaml_map(std::move(members));
}

yaml_value show_maxima(const series_maxima& maxima) {
    std::vector<yaml_member> members;
    add_maxima(members, maxima);
    return yaml_map(std::move(members));
}

yaml_value show_tenant(const series_maxima& maxima, const std::optional<limit_answer>& answer) {
    yaml_value made = show_maxima(maxima);
    if (answer) made.members.push_back(entry("onLimit", *answer));
    return made;
}

yaml_value show_forward_query(const config& from) {
    return list_of(from.upstream.forward_query);
}

yaml_value show_ignore_labels(const config& from) {
    return list_of(from.ignore_labels);
}

yaml_value show_hosts(const config& from) {
    return list_of(from.server.hosts);
}

yaml_value show_top_labels(const config& from) {
    return list_of(from.top_labels);
}

yaml_value show_tenant_overrides(const config& from) {
    const auto& [mode, answer, fallback, overrides, answers, tenants_max] = from.rules.tenants;
    std::vector<yaml_member> tenants;
    for (const auto& [tenant, maxima] : overrides) {
        const auto own = answers.find(tenant);
        tenants.push_back(
            yaml_entry(tenant, show_tenant(maxima, own == answers.end() ? std::nullopt : std::optional{own->second})));
    }
    return yaml_map(std::move(tenants));
}

yaml_value show_limits(const config& from) {
    std::vector<yaml_value> items;
    for (const label_limit& limit : from.rules.limits) items.push_back(show_limit(limit));
    return yaml_list(std::move(items));
}

yaml_value show_exempt(const config& from) {
    std::vector<yaml_value> items;
    for (const selector& each : from.rules.exempt) items.push_back(yaml_scalar(each.to_string()));
    return yaml_list(std::move(items));
}

}  // namespace seriesgate
