/// The JSON of GET /stats.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "admin/gate_counts.hpp"
#include "cardinality/suggestions.hpp"
#include "limit/figures.hpp"

namespace seriesgate {

struct process_facts {
    std::string_view version;
    std::chrono::seconds uptime{};
};

/// JSON with the keys of docs/stats.md and docs/stats.schema.json. Threads: any.
std::string stats_json(const process_facts& process, const gate_counts& counts, const limiter_figures& figures,
                       const budget_choice& shown);

}  // namespace seriesgate
