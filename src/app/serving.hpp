/// The threads that serve connections, and what they answer with.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "admin/admin_service.hpp"
#include "app/gate_metrics.hpp"
#include "config/config.hpp"
#include "http/service.hpp"
#include "http/worker.hpp"
#include "ingest/ingestor.hpp"
#include "series/fingerprint.hpp"

namespace seriesgate {

struct culprits;
class fleet_shared;
class series_limiter;

/// What all of them share, room by room. Threads: any.
struct serving_shared {
    http_shared http;
    shared_stores stores;
    ingest_shared ingest;
    admin_shared admin;

    /// Everything that is passed outlives this.
    /// @param fleet null for a gate that counts alone
    serving_shared(const config& settings, series_limiter& limiter, const hash_key& key, gate_metrics& metrics,
                   access_control& access, culprits& noted, fleet_shared* fleet);
};

/// One thread with what answers on it.
struct serving_thread {
    worker self;  // first, so that it is destroyed last: see worker.hpp
    std::optional<ingestor> ingest;
    admin_answers admin;
    service offered;
    std::optional<service> people;  ///< the front desk's, where admin.listen is; `offered` is ingestion alone then

    enum class role { worker, front_desk };

    /// @param as the front desk has no ingestion.
    serving_thread(serving_shared& shared, role as);
    serving_thread(const serving_thread&) = delete;
    serving_thread& operator=(const serving_thread&) = delete;
};

using worker_threads = std::vector<std::unique_ptr<serving_thread>>;

/// As many as are configured, or one for each core. They do not run yet.
worker_threads make_workers(serving_shared& shared, const server_config& settings);
[[nodiscard]] std::size_t worker_count(const server_config& settings) noexcept;

/// What a listener deals connections to.
std::vector<service*> services_of(const worker_threads& workers);

}  // namespace seriesgate
