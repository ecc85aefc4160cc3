/// The answer of GET /stats.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "admin/budget_choice.hpp"
#include "admin/gate_counts.hpp"
#include "core/result.hpp"
#include "limit/figures.hpp"

namespace seriesgate {

// --- What is asked of /stats behind its '?'.

/// `limit=N`, `tenant=NAME` and `name=NAME OF A LIMIT`, each once at most.
/// @return or what is wrong, and what is possible: one line. Linear in the bytes; what it keeps is bounded.
result<budget_choice, std::string> read_stats_arguments(std::string_view query);

/// The process that tells of itself.
struct process_facts {
    std::string_view version;
    std::chrono::seconds uptime{};
};

/// JSON with the keys of docs/stats.md, which docs/stats.schema.json has, too.
/// Threads: any.
std::string stats_json(const process_facts& process, const gate_counts& counts, const limiter_figures& figures,
                       const budget_choice& shown);

}  // namespace seriesgate
