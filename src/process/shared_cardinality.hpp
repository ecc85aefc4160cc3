/// Cardinality data that ingestion records and pages show; persistence saves tracker and demand.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "cardinality/cardinality_tracker.hpp"
#include "cardinality/refused_ring.hpp"
#include "cardinality/suggestions.hpp"
#include "config/config.hpp"
#include "ingest/series_sampler.hpp"
#include "limit/window.hpp"
#include "series/fingerprint.hpp"

namespace seriesgate {

/// Threads: any.
struct shared_cardinality {
    cardinality_tracker tracker;
    refused_ring refused{};
    observed_demand demand{};
    series_sampler noted;  ///< feeds both

    shared_cardinality(const config& settings, const hash_key& key, const series_limiter& limiter, time_point now)
        : tracker(counted_labels(settings.top_labels), key, now), noted(tracker, refused, limiter) {}

  private:
    /// Always counts `job`, because findings name it.
    static std::vector<std::string> counted_labels(std::vector<std::string> configured) {
        if (std::ranges::find(configured, "job") == configured.end()) configured.emplace_back("job");
        return configured;
    }
};

}  // namespace seriesgate
