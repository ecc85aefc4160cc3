#include "config/doubts.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <utility>

#include "config/wording.hpp"

namespace seriesgate {
namespace {

constexpr std::string_view hourly_key = "maxHourlySeries";
constexpr std::string_view daily_key = "maxDailySeries";

const yaml_member* find_member(const placed_value& map, std::string_view name) noexcept {
    const auto& members = map.value().members;
    const auto found = std::ranges::find(members, name, &yaml_member::name);
    return found == members.end() ? nullptr : &*found;
}

/// Whether a maximum is never come to, since the one above, which holds for the same series and more, is smaller.
bool is_out_of_reach(std::uint64_t maximum, std::uint64_t above) noexcept {
    return maximum != 0 && above != 0 && maximum > above;
}

/// @param map with both keys or one of them; what is inherited has been looked at where it stands.
void doubt_maxima(const placed_value& map, const series_maxima& maxima, const series_maxima& global) {
    const yaml_member* const hourly = find_member(map, hourly_key);
    const yaml_member* const daily = find_member(map, daily_key);
    const std::string wrong = doubt_of_daily(maxima);
    if (!wrong.empty() && daily != nullptr)
        map.below(*daily).warn(wrong);
    else if (!wrong.empty() && hourly != nullptr)
        map.below(*hourly).warn("is above maxDailySeries, so it never refuses anything");
    if (auto far = doubt_of_reach(maxima.hourly, global.hourly, hourly_key); hourly != nullptr && !far.empty())
        map.below(*hourly).warn(std::move(far));
    if (auto far = doubt_of_reach(maxima.daily, global.daily, daily_key); daily != nullptr && !far.empty())
        map.below(*daily).warn(std::move(far));
}

/// Whether two matchers of a selector exclude each other. Only where one of them asks for one value.
bool matches_nothing(const selector& tried) {
    const auto excludes = [&](const label_matcher& fixed) {
        return fixed.op == match_op::equal && std::ranges::any_of(tried.matchers(), [&](const label_matcher& other) {
                   return other.name == fixed.name && !other.accepts(fixed.value);
               });
    };
    return std::ranges::any_of(tried.matchers(), excludes);
}

/// By two series that nobody means, one with nothing but a name and one with labels that many have.
bool matches_everything(const selector& tried) {
    constexpr std::string_view odd = "zq_seriesgate_probe";
    constexpr label_view bare[]{{name_label, odd}};
    constexpr label_view usual[]{{name_label, odd}, {"cluster", odd}, {"container", odd}, {"env", odd},
                                 {"instance", odd}, {"job", odd},     {"namespace", odd}, {"pod", odd}};
    return tried.matches(bare) && tried.matches(usual);
}

void doubt_overrides(const placed_value& at, const label_limit& limit, const series_maxima& global) {
    const auto items = at.items();
    assert(items.size() == limit.overrides.size());
    for (std::size_t i = 0; i < items.size(); ++i) doubt_maxima(items[i], limit.overrides[i].maxima, global);
}

void doubt_limit(const placed_value& at, const label_limit& limit, const series_maxima& global) {
    doubt_maxima(at, limit.maxima, global);
    if (const auto* const match = find_member(at, "match"); match != nullptr && matches_nothing(*limit.match))
        at.below(*match).warn("matches no series: two of its conditions exclude each other");
    if (const auto* const overrides = find_member(at, "overrides"))
        doubt_overrides(at.below(*overrides), limit, global);
}

}  // namespace

std::string doubt_of_daily(const series_maxima& maxima) {
    if (!is_out_of_reach(maxima.hourly, maxima.daily)) return "";
    return "is below maxHourlySeries, so the limit of the hour never refuses anything";
}

std::string doubt_of_reach(std::uint64_t maximum, std::uint64_t global, std::string_view global_key) {
    if (!is_out_of_reach(maximum, global)) return "";
    return "is above the global " + std::string{global_key} + ", so it never refuses anything";
}

void doubt_ignore_labels(const placed_value& at, const config& read) {
    if (std::ranges::count(read.ignore_labels, name_label) == 0) return;
    at.warn("without the name, series of all metrics that have the same labels count as one");
}

void doubt_tenant_overrides(const placed_value& at, const config& read) {
    for (const auto& [tenant, value] : at.members())
        doubt_maxima(value, maxima_of(read.rules.tenants, tenant), read.rules.global);
}

void doubt_limits(const placed_value& at, const config& read) {
    const auto items = at.items();
    assert(items.size() == read.rules.limits.size());
    for (std::size_t i = 0; i < items.size(); ++i) doubt_limit(items[i], read.rules.limits[i], read.rules.global);
}

void doubt_exempt(const placed_value& at, const config& read) {
    const auto items = at.items();
    assert(items.size() == read.rules.exempt.size());
    for (std::size_t i = 0; i < items.size(); ++i) {
        const selector& exempt = read.rules.exempt[i];
        if (matches_everything(exempt))
            items[i].warn("matches every series or nearly, and what is exempt has no limit");
        if (matches_nothing(exempt)) items[i].warn("matches no series: two of its conditions exclude each other");
        const auto same = std::ranges::find(read.rules.limits, exempt,
                                            [](const label_limit& limit) { return limit.match.value_or(selector{}); });
        if (same != read.rules.limits.end())
            items[i].warn("is what limits[" + std::to_string(same - read.rules.limits.begin()) +
                          "] matches, which therefore never refuses anything");
    }
}

}  // namespace seriesgate
