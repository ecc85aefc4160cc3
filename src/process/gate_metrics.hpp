/// All figures of the process but the limiter's own and those of the kernel.
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

class exposition;
class fleet_shared;
struct shared_stores;

/// Threads: any.
struct gate_metrics {
    http_metrics http;
    ingest_metrics ingest;
    marker_metrics markers;
    upstream_metrics upstream;
    reload_metrics reload;
    state_metrics state;
    fleet_metrics fleet;

    /// What /stats says of them.
    [[nodiscard]] gate_counts counts() const;
    /// What the status page says of the gate's own care.
    [[nodiscard]] upkeep_facts upkeep(bool keeps_state) const;
};

/// What /stats says of stores.
[[nodiscard]] std::vector<store_counts> counts_of(const shared_stores& stores);

/// What /stats says of a fleet.
[[nodiscard]] shared_counts counts_of(const fleet_shared& fleet);

/// The families of all but the fleet's.
void write(exposition& out, const gate_metrics& metrics);

}  // namespace seriesgate
