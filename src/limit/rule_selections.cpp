#include "limit/rule_selections.hpp"

#include <algorithm>
#include <cassert>

#include "core/bytes.hpp"
#include "limit/rules.hpp"
#include "series/selector.hpp"

namespace seriesgate {
namespace {

// Prices in units of rule_work_max; series/selector.hpp has the prices of matching.
constexpr std::uint64_t repeated_work = 10;
constexpr std::uint64_t selected_work = 90;  // includes the lookup of the budget

/// Longer values are compared by address only.
constexpr std::size_t compared_bytes_max = 256;

bool is_same(bytes_view a, bytes_view b) noexcept {
    return a.size() == b.size() && (a.data() == b.data() || (a.size() <= compared_bytes_max && a == b));
}

}  // namespace

void rule_selections::clear(std::uint64_t work) noexcept {
    series_.clear();
    selected_.clear();
    keys_.clear();
    work_left_ = work;
    over_ = false;
    forget_values();
    values_.clear();
    matches_.clear();
    last_keys_.clear();
}

void rule_selections::shrink() {
    clear();
    give_back_all(series_, selected_, keys_, present_);
}

bool rule_selections::spend(std::uint64_t work) noexcept {
    over_ |= work > work_left_;
    work_left_ -= std::min(work, work_left_);
    return !over_;
}

bool rule_selections::append(const compiled_rules& rules, std::string_view tenant, std::span<const label_view> labels) {
    series_.push_back({.selected_begin = selected_.size(), .selected_count = 0});
    if (rules.limits.empty() && rules.exempt.empty()) return true;
    if (!find_values(rules.labels, labels)) return false;
    series_.back().exempt = is_exempt(rules);
    if (series_.back().exempt) select(rules, tenant, rules.exempt_at());
    for (std::size_t i = 0; i < rules.written_limits().size() && !over_; ++i) select(rules, tenant, i);
    series_.back().selected_count = static_cast<std::uint32_t>(selected_.size() - series_.back().selected_begin);
    over_ |= selected_.size() * sizeof(selected) + keys_.size() > selection_bytes_max;
    return !over_;
}

bool rule_selections::append_ignored_value(const compiled_rules& rules, std::string_view tenant) {
    series_.push_back({.selected_begin = selected_.size(), .selected_count = 1, .is_ignored_value = true});
    select(rules, tenant, rules.ignored_values_at());
    return !over_;
}

/// Labels may repeat a name: the first value that is not empty counts, see label_value.
bool rule_selections::find_values(const rule_labels& asked, std::span<const label_view> labels) {
    forget_values();
    values_.resize(asked.size());
    matches_.resize(asked.asked_count());
    if (!spend(label_work * labels.size())) return false;
    for (const label_view& label : labels) {
        const std::size_t number = asked.number_of(label.name);
        if (number == asked.size() || label.value.empty() || !values_[number].empty()) continue;
        values_[number] = label.value;
        present_.push_back(static_cast<std::uint32_t>(number));
    }
    return true;
}

void rule_selections::forget_values() noexcept {
    for (const std::uint32_t number : present_) values_[number] = {};
    present_.clear();
}

bool rule_selections::is_exempt(const compiled_rules& rules) {
    for (std::size_t i = 0; i < rules.exempt.size(); ++i)
        if (matches(rules.labels, rules.exempt[i], rules.labels.of_exempt(i))) return true;
    return false;
}

/// @param position of the selector's first matcher, see rule_labels.
bool rule_selections::matches(const rule_labels& asked, const selector& of, std::size_t position) {
    return std::ranges::all_of(of.matchers(), [&](const label_matcher& matcher) {
        const std::size_t at = position++;
        return accepts(matcher, values_[asked.number(at)], at);
    });
}

/// @return false also if no work is left.
bool rule_selections::accepts(const label_matcher& matcher, bytes_view value, std::size_t position) {
    if (!matcher.pattern.uses_regex()) {
        const std::size_t compared = std::min(value.size(), matcher.value.size());
        return spend(literal_work + matcher.value.size() / 64 + compared / 8) && matcher.accepts(value);
    }
    last_match& last = matches_[position];
    if (last.known && is_same(last.value, value)) return spend(repeated_work) && last.accepted;
    if (!spend(regex_work_on(value))) return false;
    last = {.value = value, .known = true, .accepted = matcher.accepts(value)};
    return last.accepted;
}

template <class Visit>
void rule_selections::visit_key(const compiled_rules& rules, std::string_view tenant, std::size_t limit,
                                const Visit& visit) const {
    const label_limit& rule = rules.limits[limit];
    const std::size_t position = rules.labels.of_each(limit);
    if (rule.per_tenant) visit(tenant);
    for (std::size_t i = 0; i < rule.each.size(); ++i) visit(values_[rules.labels.number(position + i)]);
}

void rule_selections::select(const compiled_rules& rules, std::string_view tenant, std::size_t limit) {
    const auto& match = rules.limits[limit].match;
    if (match && !matches(rules.labels, *match, rules.labels.of_match(limit))) return;
    std::size_t bytes = 0;
    visit_key(rules, tenant, limit, [&](std::string_view part) { bytes += key_part_bytes(part); });
    const bool overlong = bytes > group_key_bytes_max;
    if (!spend(selected_work + (overlong ? 0 : bytes / 2))) return;
    selected made{.key_begin = keys_.size(), .key_size = key_overlong, .limit = static_cast<std::uint32_t>(limit)};
    if (!overlong) {
        visit_key(rules, tenant, limit, [&](std::string_view part) { append_key_part(keys_, part); });
        assert(keys_.size() - made.key_begin == bytes);
        made.key_size = static_cast<std::uint32_t>(bytes);
        // Neighbours in a request are often in the same group.
        if (last_keys_.empty()) last_keys_.resize(rules.limits.size());
        selected& last = last_keys_[limit];
        const std::string_view key = std::string_view{keys_}.substr(made.key_begin);
        if (last.key_size == made.key_size && std::string_view{keys_}.substr(last.key_begin, last.key_size) == key) {
            keys_.resize(made.key_begin);
            made.key_begin = last.key_begin;
        }
        last = made;
    }
    selected_.push_back(made);
}

bool is_limited(const compiled_rules& rules, std::string_view tenant, const rule_selections::one& selection) {
    if (rules.mode == limit_mode::observe || selection.is_apart()) return false;
    if (rules.global.limit()) return true;
    if (rules.tenants.mode == limit_mode::enforce && maxima_of(rules.tenants, tenant).limit()) return true;
    for (std::size_t i = 0; i < selection.size(); ++i) {
        const label_limit& limit = rules.limits[selection.limit_index(i)];
        const series_maxima* const own = override_of(rules, selection.limit_index(i), selection.key(i));
        if (limit.mode == limit_mode::enforce && (own == nullptr ? limit.maxima : *own).limit()) return true;
    }
    return false;
}

std::uint64_t override_work(const compiled_rules& rules, const rule_selections::one& selection) noexcept {
    constexpr std::uint64_t find_work = 500;
    std::uint64_t work = 0;
    for (std::size_t i = 0; i < selection.size(); ++i)
        work += rules.limits[selection.limit_index(i)].overrides.empty() ? 0 : find_work;
    return work;
}

std::uint64_t histogram_work(std::span<const label_view> labels) noexcept {
    constexpr std::uint64_t hashed_label_work = 40;
    std::uint64_t work = 0;
    for (const label_view& each : labels) work += hashed_label_work + (each.name.size() + each.value.size()) / 2;
    return work;
}

}  // namespace seriesgate
