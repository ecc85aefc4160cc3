#include "limit/rules.hpp"

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <utility>

#include "core/bytes.hpp"

namespace seriesgate {

const series_maxima& maxima_of(const tenant_limits& tenants, std::string_view tenant) {
    const auto found = tenants.overrides.find(tenant);
    return found == tenants.overrides.end() ? tenants.fallback : found->second;
}

std::uint64_t margin_of(const limit_rules& rules, std::uint64_t maximum) noexcept {
    constexpr std::uint64_t whole = 10'000;  // hundredths of a percent
    if (!rules.whole_histograms || maximum == 0) return 0;
    const std::uint64_t parts = rules.histogram_margin.hundredths;
    return std::max(maximum / whole * parts + maximum % whole * parts / whole, rules.histogram_series_max);
}

limit_answer answer_of(const limit_rules& rules, std::string_view tenant) {
    const auto found = rules.tenants.answers.find(tenant);
    return found != rules.tenants.answers.end() ? found->second : rules.tenants.answer;
}

void append_key_part(std::string& key, std::string_view part) {
    append_varint(key, part.size());
    key.append(part);
}

std::size_t key_part_bytes(std::string_view part) noexcept {
    return static_cast<std::size_t>(varint_size(part.size())) + part.size();
}

std::optional<std::string_view> take_key_part(std::string_view& key) noexcept {
    std::uint64_t size = 0;
    const char* const end = key.data() + key.size();
    const char* const begin = read_varint(key.data(), end, size);
    if (begin == nullptr || size > static_cast<std::uint64_t>(end - begin)) return std::nullopt;
    const std::string_view part{begin, static_cast<std::size_t>(size)};
    key.remove_prefix(static_cast<std::size_t>(begin - key.data()) + part.size());
    return part;
}

std::vector<limit_number> limit_names::numbers_of(const std::vector<label_limit>& limits) {
    const std::scoped_lock held{lock_};
    std::vector<limit_number> numbers;
    for (const label_limit& limit : limits) numbers.push_back(number_of(limit.name));
    return numbers;
}

limit_number limit_names::number_of(std::string_view name) {
    const auto known = std::ranges::find(names_, name);
    if (known == names_.end() && names_.size() == limit_numbers_max) return other_limit;
    const auto number = static_cast<limit_number>(known - names_.begin());
    if (known == names_.end()) names_.emplace_back(name);
    return number;
}

const std::string& limit_names::name_of(limit_number number) const {
    const std::scoped_lock held{lock_};
    assert(number < names_.size());
    return names_[number];
}

rule_labels::rule_labels(std::span<const label_limit> limits, std::span<const selector> exempt)
    : exempt_count_(exempt.size()) {
    const auto begin_part = [this] { begins_.push_back(numbers_asked_.size()); };
    const auto ask_all = [this](const selector& of) {
        for (const label_matcher& matcher : of.matchers()) ask(matcher.name);
    };
    for (const selector& each : exempt) {
        begin_part();
        ask_all(each);
    }
    for (const label_limit& limit : limits) {
        begin_part();
        if (limit.match) ask_all(*limit.match);
        begin_part();
        for (const std::string& name : limit.each) ask(name);
    }
}

void rule_labels::ask(bytes_view name) {
    const auto next = static_cast<std::uint32_t>(numbers_.size());
    numbers_asked_.push_back(numbers_.try_emplace(std::string{name}, next).first->second);
    name_bytes_max_ = std::max(name_bytes_max_, name.size());
}

namespace {

label_limit own_limit(const limit_rules& rules, limit_number number, std::uint64_t maximum) {
    label_limit made;
    made.name = own_limit_names[number];
    made.per_tenant = true;
    made.groups_max = rules.tenants.tenants_max;
    made.maxima = {.hourly = maximum, .daily = maximum};
    return made;
}

limit_rules with_own_limits(limit_rules written) {
    if (!written.exempt.empty()) {
        written.limits.push_back(own_limit(written, exempt_limit, written.exempt_series_max));
        written.limits.back().mode = limit_mode::observe;  // beyond it other limits decide
    }
    if (written.ignores_labels)
        written.limits.push_back(own_limit(written, ignored_values_limit, written.ignored_values_max));
    return written;
}

}  // namespace

compiled_rules::compiled_rules(limit_rules written)
    : limit_rules(with_own_limits(std::move(written))), labels(limits, exempt) {
    for (const label_limit& limit : limits) {
        auto& by_key = overridden.emplace_back();
        for (const group_override& each : limit.overrides) {
            std::string key;
            for (const auto& [label, value] : each.group) append_key_part(key, value);
            by_key.try_emplace(std::move(key), each.maxima);
        }
    }
}

const series_maxima* override_of(const compiled_rules& rules, std::size_t limit, std::optional<std::string_view> key) {
    assert(limit < rules.limits.size());
    const auto& by_key = rules.overridden[limit];
    if (by_key.empty()) return nullptr;
    std::string shared;
    if (!key) {
        for (std::size_t i = 0; i < rules.limits[limit].each.size(); ++i) append_key_part(shared, overflow_name);
        key = shared;
    } else if (rules.limits[limit].per_tenant && !take_key_part(*key)) {
        return nullptr;  // malformed
    }
    const auto found = by_key.find(*key);
    return found == by_key.end() ? nullptr : &found->second;
}

series_maxima capacities_of(const limit_rules& rules) {
    const bool bounded = rules.mode == limit_mode::enforce && rules.exempt.empty() && !rules.whole_histograms;
    return bounded ? rules.global : series_maxima{};
}

}  // namespace seriesgate
