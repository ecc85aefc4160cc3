/// Classic histograms, for the tests that keep them whole.
#pragma once

#include "limit/labelled.hpp"

namespace seriesgate::testing {

using series_list = std::vector<label_set>;

/// `metric{<labels>}`, sorted.
inline label_set named(std::string metric, label_set labels = {}) {
    labels.emplace_back("__name__", std::move(metric));
    std::ranges::sort(labels);
    return labels;
}

/// Twelve series: ten buckets, then sum and count, as they are scraped.
inline series_list histogram(const std::string& metric, const label_set& labels = {}) {
    series_list made;
    for (int bound = 1; bound <= 10; ++bound) {
        label_set bucket = labels;
        bucket.emplace_back("le", std::to_string(bound));
        made.push_back(named(metric + "_bucket", std::move(bucket)));
    }
    made.push_back(named(metric + "_sum", labels));
    made.push_back(named(metric + "_count", labels));
    return made;
}

/// The twelve of `pod`.
inline series_list latency(int pod) {
    return histogram("latency", {{"pod", std::to_string(pod)}});
}

/// Gauges that have nothing to do with any histogram.
inline series_list gauges(int first, int count) {
    series_list made;
    for (int i = first; i < first + count; ++i) made.push_back(named("up", {{"pod", std::to_string(i)}}));
    return made;
}

inline series_list part(const series_list& of, std::size_t first, std::size_t count) {
    const auto begin = of.begin() + static_cast<std::ptrdiff_t>(first);
    return {begin, begin + static_cast<std::ptrdiff_t>(count)};
}

inline series_list joined(series_list first, const series_list& second) {
    first.insert(first.end(), second.begin(), second.end());
    return first;
}

/// @param shown gets their labels.
inline std::vector<offered_series> offered_of(const series_list& sent, const std::string& tenant, shown_labels& shown) {
    std::vector<offered_series> offered;
    shown.entries.clear();
    for (const label_set& each : sent) {
        offered.push_back(
            {.fingerprint = fingerprint_in({.tenant = tenant, .labels = each}, 0), .samples = 1, .admits = true});
        shown.entries.push_back(views_of(each));
    }
    return offered;
}

/// A limiter for senders of histograms.
struct histogram_offering : labelled_offering {
    using labelled_offering::labelled_offering;

    /// One request. @return how many of its entries were accepted.
    std::uint64_t accept(const series_list& sent, time_point now, std::string tenant = {}) {
        offered = offered_of(sent, tenant, labels);
        verdicts.assign(sent.size(), verdict::unknown);
        return decide({.tenant = std::move(tenant)}, now).accepted;
    }
};

inline limit_rules whole(std::uint64_t hourly_max, std::uint64_t daily_max = 0) {
    return {.global = {.hourly = hourly_max, .daily = daily_max},
            .false_positive_rate = 1e-9,
            .incumbent_grace = std::chrono::seconds{0},
            .whole_histograms = true};
}

}  // namespace seriesgate::testing
