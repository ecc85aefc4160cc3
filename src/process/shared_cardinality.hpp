/// Whose the new and the refused series are, and how many, as all rooms share it.
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

/// Ingestion notes them, pages show them, and the state keeps them. Threads: any.
struct culprits {
    talkers who;
    refused_ring refused{};
    observed_demand demand{};
    noted_series noted;  ///< on the way to both

    culprits(const config& settings, const hash_key& key, const series_limiter& limiter, time_point now)
        : who(counted_labels(settings.top_labels), key, now), noted(who, refused, limiter) {}

  private:
    /// Findings name the job, whatever else is counted.
    static std::vector<std::string> counted_labels(std::vector<std::string> configured) {
        if (std::ranges::find(configured, "job") == configured.end()) configured.emplace_back("job");
        return configured;
    }
};

}  // namespace seriesgate
