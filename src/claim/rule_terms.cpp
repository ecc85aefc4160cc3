#include "claim/rule_terms.hpp"

#include <algorithm>
#include <string>
#include <string_view>

#include "limit/rules.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace seriesgate {
namespace {

/// Some texts, whose order and bounds count.
class identity {
    std::string all_;
    const bool with_maxima_;

  public:
    explicit identity(bool with_maxima) : with_maxima_(with_maxima) {}

    void add(std::string_view text) { append_key_part(all_, text); }
    void add(std::uint64_t number) { add(std::string_view{std::to_string(number)}); }
    /// Whether there are any, and which, if that is asked.
    void add(const series_maxima& maxima) {
        add(std::uint64_t{maxima.hourly != 0 ? 1u : 0u} + (maxima.daily != 0 ? 2u : 0u));
        if (!with_maxima_) return;
        add(maxima.hourly);
        add(maxima.daily);
    }
    [[nodiscard]] std::uint64_t value() const { return XXH3_64bits(all_.data(), all_.size()); }
};

void add_limit(identity& all, const label_limit& limit) {
    all.add(limit.name);
    all.add(limit.match ? limit.match->to_string() : std::string{});
    all.add(limit.each.size());
    for (const std::string& label : limit.each) all.add(label);
    all.add(limit.groups_max);
    all.add(limit.maxima);
    all.add(limit.mode == limit_mode::enforce);
    all.add(limit.per_tenant);
    all.add(limit.overrides.size());
    for (const group_override& each : limit.overrides) {
        for (const auto& [label, value] : each.group) all.add(value);
        all.add(each.maxima);
    }
}

/// Whether an enforced limit has a maximum of the day.
bool limits_the_day(const compiled_rules& rules) {
    const auto any = [](const series_maxima& fallback, const auto& overrides, auto maxima_in) {
        return fallback.daily != 0 ||
               std::ranges::any_of(overrides, [&](const auto& each) { return maxima_in(each).daily != 0; });
    };
    if (rules.mode == limit_mode::observe) return false;
    if (rules.global.daily != 0) return true;
    if (rules.tenants.mode == limit_mode::enforce &&
        any(rules.tenants.fallback, rules.tenants.overrides, [](const auto& each) { return each.second; }))
        return true;
    return std::ranges::any_of(rules.written_limits(), [&](const label_limit& limit) {
        return limit.mode == limit_mode::enforce &&
               any(limit.maxima, limit.overrides, [](const group_override& each) { return each.maxima; });
    });
}

std::uint64_t identity_of(const compiled_rules& rules, bool with_maxima) {
    identity all{with_maxima};
    all.add(rules.global);
    all.add(static_cast<std::uint64_t>(rules.incumbent_grace.count()));
    all.add(rules.mode == limit_mode::enforce);
    all.add(rules.tenants.mode == limit_mode::enforce);
    all.add(rules.tenants.fallback);
    all.add(rules.tenants.tenants_max);
    all.add(rules.tenants.overrides.size());
    for (const auto& [tenant, maxima] : rules.tenants.overrides) {
        all.add(tenant);
        all.add(maxima);
    }
    all.add(rules.written_limits().size());
    for (const label_limit& limit : rules.written_limits()) add_limit(all, limit);
    for (const selector& each : rules.exempt) all.add(each.to_string());
    return all.value();
}

}  // namespace

claim_terms terms_of(const compiled_rules& rules) {
    const series_maxima room = capacities_of(rules);
    return {.rules = rules_identity(rules),
            .all_rules = all_rules_identity(rules),
            .grace = static_cast<std::uint32_t>(rules.incumbent_grace.count()),
            .with_day = limits_the_day(rules),
            .histogram_series_max = rules.histogram_series_max,
            .histogram_margin = rules.histogram_margin.hundredths,
            .room = room.hourly,
            .day_room = room.daily};
}

claim_terms with_reserve(claim_terms terms, reserve_parts reserve) {
    terms.reserve = reserve;
    if (reserve == 0) return terms;
    identity all{true};
    all.add(terms.all_rules);
    all.add(std::uint64_t{reserve});
    terms.all_rules = all.value();
    return terms;
}

std::uint64_t rules_identity(const compiled_rules& rules) {
    return identity_of(rules, false);
}

std::uint64_t all_rules_identity(const compiled_rules& rules) {
    return identity_of(rules, true);
}

}  // namespace seriesgate
