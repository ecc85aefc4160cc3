// `limits`: budgets over what a selector matches.
#include <algorithm>
#include <map>

#include "config/ignored_labels.hpp"
#include "config/known_keys.hpp"
#include "config/rule_keys.hpp"
#include "config/rule_values.hpp"
#include "config/scalars.hpp"
#include "config/wording.hpp"
#include "limit/rules.hpp"

namespace seriesgate {
namespace {

constexpr std::string_view name_characters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";

// A limit as it is read.
struct limit_draft {
    std::span<const label_limit> before;   // the limits above it
    std::span<const std::string> ignored;  // ignoreLabels
    label_limit made;
    bool each_is_known = true;  // false: it has errors, so nothing can be said of what hangs on it
};

struct override_draft {
    std::span<const std::string> each;  // empty: not known, so nothing can be said of the group
    group_override made;
    bool group_is_known = false;
};

std::string assign_name(std::string_view text, std::span<const label_limit> before, std::string& target) {
    if (text.empty() || text.find_first_not_of(name_characters) != std::string_view::npos) {
        return in_quotes(text) + " is not a name made of letters, digits, '_', '.' and '-'";
    }
    if (text.size() > limit_name_bytes_max) {
        return in_quotes(text) + " is too long, at most " + std::to_string(limit_name_bytes_max) + " characters";
    }
    if (std::ranges::count(own_limit_names, text) != 0)
        return in_quotes(text) + " is what metrics and log lines call something else: choose another name";
    target = text;
    const auto same = std::ranges::find(before, text, &label_limit::name);
    if (same == before.end()) return "";
    return in_quotes(text) + " is the name of limits[" + std::to_string(same - before.begin()) + "] already";
}

void read_name(const placed_value& at, limit_draft& to) {
    read_scalar(at, [&](std::string_view text) { return assign_name(text, to.before, to.made.name); });
}

void read_match(const placed_value& at, limit_draft& to) {
    if (selector match; read_selector(at, to.ignored, match)) to.made.match = std::move(match);
}

void read_each(const placed_value& at, limit_draft& to) {
    to.each_is_known = read_label_names(at, each_max, to.made.each);
    if (!to.each_is_known) return;
    const auto items = at.items();
    for (std::size_t i = 0; i < items.size(); ++i)
        if (auto wrong = ignored_label(to.made.each[i], to.ignored); !wrong.empty()) items[i].fail(std::move(wrong));
}

// Whether a key that speaks of groups has some to speak of. Told if not.
bool has_groups(const placed_value& at, const limit_draft& limit) {
    const bool missing = limit.each_is_known && limit.made.each.empty();
    if (missing) at.fail("needs 'each': without it all series of the limit share one budget");
    return !missing;
}

void read_groups_max(const placed_value& at, limit_draft& to) {
    if (!has_groups(at, to)) return;
    read_scalar(at, [&](std::string_view text) { return assign_count(text, budget_counts, to.made.groups_max); });
}

// A label that is no part of the group's name.
std::string unknown_label(std::string_view name, std::span<const std::string> each) {
    const std::vector<std::string_view> candidates{each.begin(), each.end()};
    const auto meant = closest(name, candidates);
    return "is not one of the limit's labels" + (meant.empty() ? "" : ", did you mean " + in_quotes(meant) + "?");
}

// The group's labels by name; one that has been told to be wrong is there all the same.
std::map<std::string, std::string, std::less<>> read_labels(const placed_value& at, override_draft& to) {
    std::map<std::string, std::string, std::less<>> values;
    for (const auto& [label, value] : at.members()) {
        const bool belongs = std::ranges::count(to.each, label) != 0;
        const auto text = belongs ? value.text() : std::nullopt;
        if (!belongs) value.fail_key(unknown_label(label, to.each));
        if (!text) to.group_is_known = false;
        values.emplace(label, text.value_or(""));
    }
    return values;
}

void read_group(const placed_value& at, override_draft& to) {
    if (to.each.empty()) return;
    if (at.value().kind == yaml_kind::text || at.value().kind == yaml_kind::list) return at.fail_shape("keys below it");
    to.group_is_known = true;
    const auto values = read_labels(at, to);
    for (const std::string& label : to.each) {
        const auto found = values.find(label);
        if (found != values.end()) {
            to.made.group.emplace_back(label, found->second);
        } else {
            at.fail_below(label, "is required: a group has a value for every label of 'each'");
            to.group_is_known = false;
        }
    }
}

std::size_t key_bytes(const group_labels& group) {
    std::size_t bytes = 0;
    for (const auto& [label, value] : group) bytes += key_part_bytes(value);
    return bytes;
}

constexpr std::array override_fields{
    field<override_draft>{"group", read_group, presence::required},
    field<override_draft>{
        "maxHourlySeries",
        into<read_series_count, &override_draft::made, &group_override::maxima, &series_maxima::hourly>},
    field<override_draft>{
        "maxDailySeries",
        into<read_series_count, &override_draft::made, &group_override::maxima, &series_maxima::daily>},
};

void read_overrides(const placed_value& at, limit_draft& to) {
    const auto items = at.items();
    if (items.empty()) return;
    const bool each_is_known = has_groups(at, to) && to.each_is_known;
    const auto each = each_is_known ? std::span<const std::string>{to.made.each} : std::span<const std::string>{};
    std::map<group_labels, std::string> seen;  // and where
    for (const placed_value& item : items) {
        override_draft draft{each, {{}, to.made.maxima}};  // what it leaves out is as for the other groups
        read_fields(item, override_fields, draft);
        if (!draft.group_is_known) continue;
        if (key_bytes(draft.made.group) > group_key_bytes_max) {
            item.fail("has values of more than " + std::to_string(group_key_bytes_max) +
                      " bytes together: such groups have no budget of their own");
            continue;
        }
        if (const auto [first, fresh] = seen.emplace(draft.made.group, item.key()); fresh) {
            to.made.overrides.push_back(std::move(draft.made));
        } else {
            item.fail("has the same group as " + first->second);
        }
    }
}

constexpr auto made = &limit_draft::made;
constexpr auto maxima = &label_limit::maxima;

constexpr std::array limit_fields{
    field<limit_draft>{"name", read_name, presence::required},
    field<limit_draft>{"match", read_match},
    field<limit_draft>{"each", read_each},
    field<limit_draft>{"maxGroups", read_groups_max},
    field<limit_draft>{"maxHourlySeries", into<read_series_count, made, maxima, &series_maxima::hourly>},
    field<limit_draft>{"maxDailySeries", into<read_series_count, made, maxima, &series_maxima::daily>},
    field<limit_draft>{"mode", into<read_mode, made, &label_limit::mode>},
    field<limit_draft>{"onLimit", into<read_answer, made, &label_limit::answer>},
    field<limit_draft>{"perTenant", into<read_flag, made, &label_limit::per_tenant>},
    field<limit_draft>{"overrides", read_overrides},
};

}  // namespace

void read_limits(const placed_value& at, config& target) {
    for (const placed_value& item : read_items(at, limits_max)) {
        limit_draft draft{target.rules.limits, target.ignore_labels, {}};
        read_fields(item, limit_fields, draft);
        target.rules.limits.push_back(std::move(draft.made));
    }
}

}  // namespace seriesgate
