/// The answer of GET /stats.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "limit/figures.hpp"

namespace seriesgate {

/// What has become of requests and samples since the start.
struct request_counts {
    std::uint64_t requests = 0;         ///< of ingestion, answered with any status
    std::uint64_t rejected = 0;         ///< of these, answered by the gate itself with 4xx
    std::uint64_t upstream_errors = 0;  ///< of these, answered by the gate itself with 502 or 504

    std::uint64_t samples_received = 0;  ///< native histograms are samples, too
    std::uint64_t samples_accepted = 0;
    std::uint64_t samples_refused = 0;
    std::uint64_t samples_stored = 0;
    std::uint64_t samples_failed = 0;
};

/// JSON with the keys of docs/operation.md.
/// @param shown_max entries in each list of budgets: those with the most demand.
/// Threads: any.
std::string stats_json(std::string_view version, std::chrono::seconds uptime, const request_counts& counts,
                       const limiter_figures& figures, std::uint64_t shown_max);

}  // namespace seriesgate
