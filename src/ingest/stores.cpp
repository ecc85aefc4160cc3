#include "ingest/stores.hpp"

#include "metrics/exposition.hpp"
#include "upstream/door_metrics.hpp"

namespace seriesgate {

shared_stores::shared_stores(const upstream_config& upstream, upstream_metrics& metrics, std::size_t workers)
    : first(upstream, 0, metrics, workers) {
    for (std::size_t i = 1; i <= upstream.replicas.size(); ++i) replicas.emplace_back(upstream, i, workers);
}

std::vector<const shared_store*> shared_stores::all() const {
    std::vector<const shared_store*> stores{&first};
    for (const shared_replica& each : replicas) stores.push_back(&each.store);
    return stores;
}

void write(exposition& out, const shared_stores& stores) {
    write_doors(out, stores.all());
}

}  // namespace seriesgate
