/// All figures of the process but the limiter's own and those of the kernel.
#pragma once

#include <vector>

#include "admin/gate_counts.hpp"
#include "admin/reload_metrics.hpp"
#include "app/state_metrics.hpp"
#include "http/http_metrics.hpp"
#include "ingest/ingest_metrics.hpp"
#include "upstream/upstream_metrics.hpp"

namespace seriesgate {

class exposition;
struct shared_stores;

/// Threads: any.
struct gate_metrics {
    http_metrics http;
    ingest_metrics ingest;
    upstream_metrics upstream;
    reload_metrics reload;
    state_metrics state;

    /// What /stats says of them.
    [[nodiscard]] gate_counts counts() const;
};

/// What /stats says of stores.
[[nodiscard]] std::vector<store_counts> counts_of(const shared_stores& stores);

/// The families of all.
void write(exposition& out, const gate_metrics& metrics);

}  // namespace seriesgate
