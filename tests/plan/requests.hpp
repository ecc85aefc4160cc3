/// Requests for the tests of this folder, and what should be left of them according to the generated classes.
#pragma once

#include <filesystem>
#include <stdexcept>

#include "limit/window.hpp"
#include "remote_write_v1.pb.h"
#include "support/catch.hpp"
#include "wire/wire_bytes.hpp"

namespace seriesgate::testing {

inline constexpr time_point noon = std::chrono::sys_days{std::chrono::year{2026} / 3 / 10} + std::chrono::hours{12};

/// The recorded requests of a folder of tests/data, decoded, in order.
inline std::vector<std::string> recorded_requests(const std::string& folder = "prometheus-3.5-v1") {
    std::vector<std::string> bodies;
    for (const std::string& path : recorded_files(folder)) bodies.push_back(decoded_file(path));
    return bodies;
}

inline prometheus::WriteRequest parsed(const std::string& body) {
    prometheus::WriteRequest request;
    if (!request.ParseFromString(body)) throw std::runtime_error{"the generated classes cannot read this"};
    return request;
}

/// Labels as a set of strings, which is what makes a series.
using label_pairs = std::set<std::pair<std::string, std::string>>;

inline label_pairs labels_of(const prometheus::TimeSeries& series) {
    label_pairs labels;
    for (const auto& label : series.labels()) labels.emplace(label.name(), label.value());
    return labels;
}

/// `request` without the series that are not in `kept`; everything else stays as it is.
inline prometheus::WriteRequest without_others(const prometheus::WriteRequest& request,
                                               const std::set<label_pairs>& kept) {
    prometheus::WriteRequest left = request;
    left.clear_timeseries();
    for (const auto& series : request.timeseries())
        if (kept.contains(labels_of(series))) *left.add_timeseries() = series;
    return left;
}

/// Adds a series `up{job="<job>"}` with one sample.
inline prometheus::TimeSeries& add_series(prometheus::WriteRequest& request, const std::string& job, double value = 1) {
    auto& series = *request.add_timeseries();
    auto& name = *series.add_labels();
    name.set_name("__name__");
    name.set_value("up");
    auto& label = *series.add_labels();
    label.set_name("job");
    label.set_value(job);
    auto& sample = *series.add_samples();
    sample.set_value(value);
    sample.set_timestamp(1'700'000'000'000);
    return series;
}

/// up{job="<first>"}, up{job="<first + 1>"}, ...
inline prometheus::WriteRequest request_of(int first, int count) {
    prometheus::WriteRequest request;
    for (int i = first; i < first + count; ++i) add_series(request, std::to_string(i));
    return request;
}

}  // namespace seriesgate::testing
