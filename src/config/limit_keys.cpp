// `limits` and `tenants.overrides`: budgets over what a selector matches, and of single tenants.
#include <algorithm>
#include <map>
#include <optional>

#include "config/keys.hpp"
#include "config/scalars.hpp"
#include "limit/rules.hpp"

namespace seriesgate {
namespace {

/// Bounds on what has to be looked at for a new series.
constexpr std::size_t limits_max = 64;
constexpr std::size_t each_max = 16;
constexpr std::size_t many = 1'000'000;  // overrides; the file's size is their bound

value_type<std::string> names() {
    return texts("name", "letters, digits, `_`, `.` and `-`", [](std::string_view text) -> std::string {
        constexpr std::string_view characters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";
        if (text.empty() || text.find_first_not_of(characters) != std::string_view::npos)
            return in_quotes(text) + " is not a name made of letters, digits, '_', '.' and '-'";
        if (text.size() > limit_name_bytes_max)
            return in_quotes(text) + " is too long, at most " + std::to_string(limit_name_bytes_max) + " characters";
        if (std::ranges::count(own_limit_names, text) != 0)
            return in_quotes(text) + " is what metrics and log lines call something else: choose another name";
        return "";
    });
}

/// Labels by name, in the order of the file; check_groups puts them into that of `each`.
value_type<group_labels> groups() {
    const auto read = [](const config_node& at, group_labels& target) {
        for (const auto& [label, value] : at.members()) target.emplace_back(label, value.text().value_or(""));
        return true;
    };
    const auto show = [](const group_labels& group) {
        YAML::Node map{YAML::NodeType::Map};
        for (const auto& [label, value] : group) map.force_insert(label, value);
        return map;
    };
    return {description_of_many(value_form::names, "map of labels", "a value for every label of `each`",
                                texts("text", "", nullptr).about),
            read, show};
}

const fields<group_override>& override_fields() {
    static const fields<group_override> table{
        {"group", in<&group_override::group>{}, groups(), "The group: a value for every label of `each`.",
         "{job: node}", true},
        {"maxHourlySeries", in<&group_override::maxima, &series_maxima::hourly>{}, series_counts(),
         "New series in one hour; absent: as for the other groups."},
        {"maxDailySeries", in<&group_override::maxima, &series_maxima::daily>{}, series_counts(),
         "New series in one day; absent: as for the other groups."},
        {"maxActiveSeries", in<&group_override::maxima, &series_maxima::active>{}, series_counts(),
         "Series that are active at once; absent: as for the other groups."},
    };
    return table;
}

std::size_t key_bytes(const group_labels& group) {
    std::size_t bytes = 0;
    for (const auto& [label, value] : group) bytes += key_part_bytes(value);
    return bytes;
}

/// A label that is no part of the group's name.
std::string unknown_label(std::string_view name, const std::vector<std::string>& each) {
    const auto meant = closest(name, std::vector<std::string_view>{each.begin(), each.end()});
    return "is not one of the limit's labels" + (meant.empty() ? "" : ", did you mean " + in_quotes(meant) + "?");
}

/// Puts a group's labels into the order of `each`. @return whether it has just these, each once; told if not.
bool sort_group(const config_node& at, const std::vector<std::string>& each, group_labels& group) {
    const std::string key = key_below(at.key(), "group");
    const config_report& report = at.report();
    group_labels sorted;
    for (const auto& [label, value] : group)
        if (const std::string below = key_below(key, label); std::ranges::count(each, label) == 0)
            at.report().add(report.line_of(below), below, unknown_label(label, each));
    for (const std::string& label : each) {
        const auto found = std::ranges::find(group, label, &group_labels::value_type::first);
        if (found != group.end())
            sorted.push_back(*found);
        else if (report.is_set(key))
            at.report().add(report.line_of(key), key_below(key, label),
                            "is required: a group has a value for every label of 'each'");
    }
    group = std::move(sorted);
    return !report.has_errors(key);
}

/// Whether a key that speaks of groups has some to speak of. Told if not.
bool has_groups(const config_node& at, const label_limit& limit) {
    const bool each_has_errors = at.report().has_errors(at.key().substr(0, at.key().rfind('.')) + ".each");
    if (limit.each.empty() && !each_has_errors)
        at.fail("needs 'each': without it all series of the limit share one budget");
    return !limit.each.empty() && !each_has_errors;
}

void read_groups_max(const config_node& at, label_limit& to) {
    if (has_groups(at, to)) budget_counts().read(at, to.groups_max);
}

void read_overrides(const config_node& at, label_limit& to) {
    const auto items = at.items(many);
    const bool each_is_known = items.empty() || has_groups(at, to);
    std::map<group_labels, std::string> seen;  // and where
    to.overrides.reserve(items.size());
    for (const config_node& item : items) {
        group_override made{{}, to.maxima};  // what it leaves out is as for the other groups
        read_fields(item, override_fields(), made);
        const bool has_no_group = made.group.empty() && item.report().has_errors(key_below(item.key(), "group"));
        if (!each_is_known || has_no_group || !sort_group(item, to.each, made.group)) continue;
        const auto [first, fresh] = seen.emplace(made.group, item.key());
        if (key_bytes(made.group) > group_key_bytes_max)
            item.fail("has values of more than " + std::to_string(group_key_bytes_max) +
                      " bytes together: such groups have no budget of their own");
        else if (!fresh)
            item.fail("has the same group as " + first->second);
        else
            to.overrides.push_back(std::move(made));
    }
}

struct tenant_override {
    series_maxima maxima;
    std::optional<limit_answer> answer;
};

const fields<tenant_override>& tenant_fields() {
    static const fields<tenant_override> table{
        {"maxHourlySeries", in<&tenant_override::maxima, &series_maxima::hourly>{}, series_counts(),
         "New series of the tenant in one hour; absent: as in `tenants.default`."},
        {"maxDailySeries", in<&tenant_override::maxima, &series_maxima::daily>{}, series_counts(),
         "New series of the tenant in one day; absent: as in `tenants.default`."},
        {"maxActiveSeries", in<&tenant_override::maxima, &series_maxima::active>{}, series_counts(),
         "Series of the tenant that are active at once; absent: as in `tenants.default`."},
        {"onLimit", in<&tenant_override::answer>{}, optional_of(answers()),
         "What the tenant's senders are told; absent: as in `tenants.onLimit`."},
    };
    return table;
}

}  // namespace

const fields<label_limit>& limit_fields() {
    static const value_type<std::uint64_t> group_counts = budget_counts();
    static const value_type<group_override> group_overrides = map_type(override_fields());
    static const fields<label_limit> table{
        {"name", in<&label_limit::name>{}, names(), "What metrics and logs call it.", "per-job", true},
        {"match", in<&label_limit::match>{}, optional_of(selectors()), "Which series count; absent: all."},
        {"each", in<&label_limit::each>{},
         list_type<std::vector<std::string>>("list of label names", label_names(), each_max),
         "A budget for every combination of values of these labels; absent: one budget for all.", "[job]"},
        {"maxGroups", group_counts, read_groups_max,
         [](const label_limit& from) { return from.each.empty() ? YAML::Node{} : group_counts.show(from.groups_max); },
         "Groups without an override beyond these share one budget, `__overflow__`; 10000 by default."},
        {"maxHourlySeries", in<&label_limit::maxima, &series_maxima::hourly>{}, series_counts(),
         "New series of each budget in one hour; 0 or absent: counted, not limited."},
        {"maxDailySeries", in<&label_limit::maxima, &series_maxima::daily>{}, series_counts(),
         "New series of each budget in one day; 0 or absent: counted, not limited."},
        {"maxActiveSeries", in<&label_limit::maxima, &series_maxima::active>{}, series_counts(),
         "Series of each budget that are active at once; 0 or absent: not limited."},
        {"mode", in<&label_limit::mode>{}, modes(), "`observe` refuses nothing; `enforce` by default."},
        {"onLimit", in<&label_limit::answer>{}, optional_of(answers()),
         "What senders are told whose series it refuses; absent: as for the tenant."},
        {"perTenant", in<&label_limit::per_tenant>{}, flags(), "`true`: budgets of their own for every tenant."},
        {"overrides",
         value_type<std::vector<group_override>>{
             description_of_many(value_form::list, "list of overrides", "", group_overrides.about), nullptr, nullptr},
         read_overrides, [](const label_limit& from) { return show_list(from.overrides, group_overrides.show); },
         "Other maxima for single groups.", "[{group: {job: node}, maxHourlySeries: 200000}]"},
    };
    return table;
}

value_type<std::vector<label_limit>> limit_lists() {
    auto type = list_type<std::vector<label_limit>>("list of limits", map_type(limit_fields()), limits_max, nullptr);
    type.read = [read = type.read](const config_node& at, std::vector<label_limit>& target) {
        read(at, target);
        std::map<std::string, std::string> seen;  // and where
        for (std::size_t i = 0; i < target.size(); ++i) {
            const std::string& name = target[i].name;
            const std::string key = key_of_item(at.key(), i), name_key = key_below(key, "name");
            const auto [first, fresh] = seen.emplace(name, key);
            const std::string what = at.report().has_variables(name_key) ? "is" : in_quotes(name) + " is";
            if (!fresh && !name.empty())
                at.report().add(at.report().line_of(name_key), name_key,
                                what + " the name of " + first->second + " already");
        }
        return true;
    };
    return type;
}

YAML::Node show_maxima(const series_maxima& maxima) {
    return show_fields(tenant_fields(), {maxima, {}});
}

YAML::Node show_tenant(const tenant_limits& of, const std::string& tenant, const series_maxima& maxima) {
    tenant_override shown{maxima, {}};
    if (const auto own = of.answers.find(tenant); own != of.answers.end()) shown.answer = own->second;
    return show_fields(tenant_fields(), shown);
}

value_type<tenant_limits> tenant_overrides() {
    const auto read = [](const config_node& at, tenant_limits& target) {
        for (const auto& [tenant, value] : at.members()) {
            tenant_override made{target.fallback, {}};  // what an override leaves out is as for the others
            read_fields(value, tenant_fields(), made);
            if (tenant.size() > group_key_bytes_max)
                value.fail("is a name of more than " + std::to_string(group_key_bytes_max) +
                           " bytes: requests of such tenants are rejected");
            target.overrides.emplace(tenant, made.maxima);
            if (made.answer) target.answers.emplace(tenant, *made.answer);
        }
        return true;
    };
    const auto show = [](const tenant_limits& from) {
        YAML::Node map{YAML::NodeType::Map};
        for (const auto& [tenant, maxima] : from.overrides) map.force_insert(tenant, show_tenant(from, tenant, maxima));
        return map;
    };
    return {description_of_many(value_form::names, "map of tenants", "", description_of(tenant_fields())), read, show};
}

}  // namespace seriesgate
