#include "limit/compiled_rules.hpp"

#include <cassert>
#include <utility>

#include "limit/group_key.hpp"
#include "limit/limit_names.hpp"

namespace seriesgate {
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
        return nullptr;  // not one of ours
    }
    const auto found = by_key.find(*key);
    return found == by_key.end() ? nullptr : &found->second;
}

series_maxima capacities_of(const limit_rules& rules) {
    const bool bounded = rules.mode == limit_mode::enforce && rules.exempt.empty() && !rules.whole_histograms;
    return bounded ? rules.global : series_maxima{};
}

}  // namespace seriesgate
