/// The metrics of all rooms, except the limiter's and the kernel's; and their form for /stats and the status page.
#pragma once

#include <vector>

#include "admin/admin_service.hpp"
#include "admin/gate_counts.hpp"
#include "admin/status_facts.hpp"
#include "fleet/fleet_metrics.hpp"
#include "http/http_metrics.hpp"
#include "ingest/ingest_metrics.hpp"
#include "process/persistence.hpp"
#include "upstream/upstream_health.hpp"

namespace seriesgate {

/// Threads: any.
struct gate_metrics {
    http_metrics http;
    ingest_metrics ingest;
    marker_metrics markers;
    upstream_metrics upstream;
    reload_metrics reload;
    state_metrics state;
    fleet_metrics fleet;

    /// For /stats.
    [[nodiscard]] gate_counts counts() const;
    /// For the status page: reload, web configuration, saved state.
    [[nodiscard]] upkeep_facts upkeep(bool keeps_state) const;
};

[[nodiscard]] std::vector<store_counts> counts_of(const shared_stores& stores);

[[nodiscard]] shared_counts counts_of(fleet_shared& fleet);

[[nodiscard]] warm_counts counts_of(const warm_series& of);

/// Writes all metrics except the fleet's.
void write(exposition& out, const gate_metrics& metrics);

}  // namespace seriesgate
