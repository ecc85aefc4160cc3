#include "limit/memory_estimate.hpp"

#include <algorithm>

#include "filter/admitted_set.hpp"

namespace seriesgate {
namespace {

constexpr std::uint64_t table_bytes_min = 20, table_bytes_max = 32;
constexpr std::uint64_t block_bytes = 64;
constexpr std::uint64_t growth_factor = 2;
constexpr std::uint64_t windows_kept = 3;  // the hour, the hour before, the day
constexpr std::uint64_t hours_of_day = 24;

std::uint64_t bytes_of_filter(std::uint64_t series, double false_positive_rate) {
    return block_bytes * blocks_for({.capacity = series, .false_positive_rate = false_positive_rate});
}

}  // namespace

memory_estimate estimate_memory(const limit_rules& rules, set_kind set) {
    constexpr std::uint64_t million = 1'000'000;
    const bool is_table = set == set_kind::exact;
    const auto in_filter = [&](std::uint64_t series) { return bytes_of_filter(series, rules.false_positive_rate); };
    memory_estimate made{.series_bytes_min = table_bytes_min, .series_bytes_max = table_bytes_max};
    if (!is_table) {
        made.series_bytes_min = windows_kept * ((in_filter(million) + million - 1) / million);
        made.series_bytes_max = growth_factor * made.series_bytes_min;
    }
    const auto [hourly, daily, active] = rules.global;
    if (rules.mode == limit_mode::observe || (hourly == 0 && daily == 0)) return made;
    const std::uint64_t hour = hourly == 0 ? daily : daily == 0 ? hourly : std::min(hourly, daily);
    const std::uint64_t day = daily == 0 ? hours_of_day * hour : daily;
    made.at_limits = {.hour_series = hour,
                      .day_series = day,
                      .bytes = is_table ? (day + hour) * table_bytes_max  // at midnight it has the last hour, too
                                        : growth_factor * (2 * in_filter(hour) + in_filter(day))};
    return made;
}

}  // namespace seriesgate
