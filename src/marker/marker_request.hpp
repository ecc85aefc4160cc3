/// What is written to a store for one tenant.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "marker/marker.hpp"

namespace seriesgate {

struct marker_sample {
    marker_name name;
    std::optional<std::uint64_t> series_refused;  ///< nothing: nothing is withheld any more
    std::int64_t timestamp = 0;                   ///< in milliseconds since 1970
};

/// All of one tenant, a name once.
struct marker_request {
    std::string tenant;  ///< see marker_name
    std::vector<marker_sample> samples;
};

/// The body of a request of remote write 1, as a snappy block. Each sample is a series of its own:
/// `seriesgate_series_refused{gate="...",group="...",limit="...",tenant="...",window="hourly"}`, without the labels
/// that are empty. What ends one is a stale marker, as Prometheus writes it for a series that is gone.
/// @param gate which gate says so, valid UTF-8.
/// Source: prometheus/prometheus model/value/value.go, StaleNaN.
std::string encode(const marker_request& request, std::string_view gate);

}  // namespace seriesgate
