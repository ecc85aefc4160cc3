#include "app/serving.hpp"

#include <algorithm>
#include <cassert>
#include <string>
#include <thread>

#include "app/culprits.hpp"
#include "app/routes.hpp"
#include "fleet/fleet_shared.hpp"

namespace seriesgate {
namespace {

request_handler ingestion_by(std::optional<ingestor>& ingest) {
    if (!ingest) return never_at_the_front_desk();
    return [&by = *ingest](http_request& request) { return by.answer(request); };
}

/// Nothing but the name of the upstream and, for some seconds, the fleet keeps a gate from being ready.
std::string what_keeps(ingest_shared& shared) {
    std::string fault = shared.stores.first.name_fault();
    for (shared_replica& each : shared.stores.replicas)
        if (fault.empty() && !each.settings.best_effort) fault = each.store.name_fault();
    if (!fault.empty()) return "the upstream's name does not resolve: " + fault;
    const bool catches_up = shared.fleet != nullptr && shared.fleet->is_catching_up();
    return catches_up ? "the fleet's series are being read" : "";
}

}  // namespace

serving_shared::serving_shared(const config& settings, series_limiter& limiter, const hash_key& key,
                               gate_metrics& metrics, access_control& access, culprits& noted, fleet_shared* fleet)
    : http{.settings = settings.server,
           .tenant_header = settings.tenant_header,
           .metrics = metrics.http,
           .access = access},
      stores(settings.upstream, metrics.upstream, worker_count(settings.server)),
      ingest{.settings = settings,
             .limiter = limiter,
             .key = key,
             .metrics = metrics.ingest,
             .stores = stores,
             .noted = noted.noted,
             .fleet = fleet},
      admin{.life = http.life,
            .reload = metrics.reload,
            .waits_for = [this] { return what_keeps(ingest); },
            .labels = noted.who.labels()} {}

serving_thread::serving_thread(serving_shared& shared, role as)
    : self(shared.http), admin(shared.admin, self.io), offered{.self = self, .routes = {}} {
    if (as == role::worker) ingest.emplace(self.io, shared.ingest);
    offered.routes = make_routes(admin, ingestion_by(ingest), shared.ingest.settings.tenant_path);
    if (!shared.ingest.settings.admin.listen) return;
    if (as == role::front_desk) people.emplace(service{.self = self, .routes = offered.routes.of(route_kind::admin)});
    offered.routes = offered.routes.of(route_kind::ingestion);
}

std::size_t worker_count(const server_config& settings) noexcept {
    return settings.threads != 0 ? settings.threads : std::max(1u, std::thread::hardware_concurrency());
}

worker_threads make_workers(serving_shared& shared, const server_config& settings) {
    worker_threads workers;
    for (std::size_t i = 0; i < worker_count(settings); ++i)
        workers.push_back(std::make_unique<serving_thread>(shared, serving_thread::role::worker));
    return workers;
}

std::vector<service*> services_of(const worker_threads& workers) {
    std::vector<service*> services;
    for (const auto& each : workers) services.push_back(&each->offered);
    return services;
}

}  // namespace seriesgate
