#include "talkers/exploding.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <string_view>

#include "talkers/name_patterns.hpp"

namespace seriesgate {
namespace {

using namespace std::chrono_literals;

/// What comes with one scrape comes within so much.
constexpr auto burst = 2s;
/// What came in a burst with fewer series than this part of the usual ones came before it began.
constexpr std::size_t small_part = 20;
constexpr std::size_t usual_bursts = 9;

bool is_about(const finding& found, const sampled_series& series) {
    if (series.tenant != found.tenant && found.what != explosion::tenants) return false;
    const std::string_view metric = value_of(series, name_label);
    switch (found.what) {
        case explosion::metric_names:
            return matches_pattern(metric, found.metrics.front());
        case explosion::label:
        case explosion::buckets:
            if (value_of(series, found.label).empty()) return false;
            return found.metrics.empty() || std::ranges::find(found.metrics, metric) != found.metrics.end();
        case explosion::tenants:
        case explosion::targets:
        case explosion::growth:
            break;
    }
    return true;
}

struct arrivals {
    time_point begin{}, end{};
    std::size_t count = 0;
};

/// Series that came together; the earliest first.
std::vector<arrivals> bursts_of(std::vector<time_point> times) {
    std::ranges::sort(times);
    std::vector<arrivals> made;
    for (const time_point each : times) {
        if (made.empty() || each - made.back().end > burst) made.push_back({.begin = each});
        made.back().end = each;
        ++made.back().count;
    }
    return made;
}

template <class T>
T median(std::vector<T> of) {
    const std::size_t middle = (of.size() - 1) / 2;
    std::ranges::nth_element(of, of.begin() + static_cast<std::ptrdiff_t>(middle));
    return of[middle];
}

/// Back from the last burst, as long as others come as often before it and are not much smaller. What came earlier
/// (mostly when the program or the gate was started) was no explosion yet. Two bursts say nothing of how often they
/// come, so the first one may have been healthy.
time_point beginning(const std::vector<arrivals>& bursts) {
    std::vector<std::size_t> counts;
    std::vector<time_point::duration> pauses;
    for (std::size_t i = bursts.size() - std::min(bursts.size(), usual_bursts); i < bursts.size(); ++i) {
        counts.push_back(bursts[i].count);
        if (i != 0) pauses.push_back(bursts[i].begin - bursts[i - 1].begin);
    }
    std::size_t first = bursts.size() - 1;
    if (pauses.size() < 2) return bursts[first].begin;
    const auto pause_max = median(pauses) + median(pauses) / 4;
    const std::size_t count_min = median(counts) / small_part;
    while (first > 0 && bursts[first].begin - bursts[first - 1].begin <= pause_max &&
           bursts[first - 1].count >= count_min)
        --first;
    return bursts[first].begin;
}

}  // namespace

std::string_view value_of(const sampled_series& series, std::string_view label) {
    for (const auto& [name, value] : series.labels)
        if (name == label) return value;
    return {};
}

exploding_series sort_out(const finding& found, const sampled& all) {
    std::vector<time_point> times;
    for (const auto* const from : {&all.known, &all.refused})
        for (const auto& each : *from)
            if (each->first_seen != time_point::min() && is_about(found, *each)) times.push_back(each->first_seen);
    exploding_series made{.since = time_point::max()};
    if (!times.empty()) {
        const auto bursts = bursts_of(std::move(times));
        made.since = beginning(bursts);
        made.is_certain = bursts.size() != 2;
    }
    for (const auto& each : all.known) {
        const bool is_exploding = each->first_seen >= made.since && is_about(found, *each);
        (is_exploding ? made.exploding : made.healthy).push_back(each.get());
    }
    for (const auto& each : all.refused)
        if (each->first_seen >= made.since && is_about(found, *each)) made.exploding.push_back(each.get());
    return made;
}

}  // namespace seriesgate
