/// GET /stats: its arguments and its JSON.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "admin/gate_counts.hpp"
#include "cardinality/suggestions.hpp"
#include "core/result.hpp"
#include "limit/figures.hpp"

namespace seriesgate {

// --- Arguments.

/// Reads `limit=N`, `tenant=NAME` and `name=NAME OF A LIMIT`, each at most once.
/// @return or the error with the possible arguments, one line. Linear in the bytes; the result is bounded.
result<budget_choice, std::string> read_stats_arguments(std::string_view query);

struct process_facts {
    std::string_view version;
    std::chrono::seconds uptime{};
};

/// JSON with the keys of docs/stats.md and docs/stats.schema.json. Threads: any.
std::string stats_json(const process_facts& process, const gate_counts& counts, const limiter_figures& figures,
                       const budget_choice& shown);

}  // namespace seriesgate
