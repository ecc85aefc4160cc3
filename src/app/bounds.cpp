#include "app/bounds.hpp"

#include <algorithm>
#include <cstdint>

#include "app/serving.hpp"
#include "log/log.hpp"
#include "upstream/client.hpp"
#include "upstream/shared_store.hpp"

namespace seriesgate {

bool writes_markers(const config& settings) {
    return settings.marker && !settings.upstream.discard;
}

descriptor_use descriptors_besides(const config& settings) {
    const std::size_t workers = worker_count(settings.server);
    const std::size_t markers = writes_markers(settings) ? 1 : 0;  // a thread with connections of its own
    const std::size_t backends = count_backends(settings.upstream);
    return {.workers = workers + markers,
            .idle_upstream_max = connection_pool::idle_max * backends,
            .upstream_max = share_of_connections(settings.upstream, workers) * workers * backends + markers * backends,
            .has_replicas = !settings.upstream.replicas.empty(),
            .admin_connections = settings.admin.listen ? admin_bounds.total : 0};
}

connection_bounds connection_bounds_of(const server_config& settings, const descriptor_use& others) {
    const std::uint64_t descriptors = raise_descriptor_limit();
    const std::size_t fit = connections_that_fit(descriptors, others);
    if (settings.connections_max > fit)
        log::warn("server.maxConnections is lowered, the process may have too few descriptors",
                  {{"configured", settings.connections_max}, {"max_connections", fit}, {"descriptors", descriptors}});
    return {.total = std::min<std::size_t>(settings.connections_max, fit),
            .per_peer = settings.connections_per_peer_max,
            .handshakes = settings.handshakes_max};
}

}  // namespace seriesgate
