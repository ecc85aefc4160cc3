/// The answer of GET /stats.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "limit/figures.hpp"
#include "limit/limiter.hpp"
#include "metrics/metrics.hpp"

namespace seriesgate {

/// JSON with the keys of docs/operation.md.
/// @param shown_max entries in each list of budgets: those with the most demand.
/// Threads: any.
std::string stats_json(std::string_view version, std::chrono::seconds uptime, const gate_metrics& metrics,
                       const limiter_figures& figures, std::uint64_t shown_max);

}  // namespace seriesgate
