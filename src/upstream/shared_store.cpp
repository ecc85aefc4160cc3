#include "upstream/shared_store.hpp"

#include <algorithm>
#include <vector>

namespace seriesgate {
namespace {

/// A name that others had before gets a number.
std::string numbered(const std::string& name, std::size_t before) {
    return before == 0 ? name : name + "#" + std::to_string(before + 1);
}

std::string backend_name(const std::vector<store_backend>& backends, std::size_t at) {
    std::size_t before = 0;
    for (std::size_t i = 0; i < at; ++i) before += backends[i].authority == backends[at].authority ? 1 : 0;
    return numbered(backends[at].authority, before);
}

/// That of its first backend.
std::string store_name(const upstream_config& of, std::size_t which) {
    const auto authority = [&](std::size_t each) { return store_at(of, each).backends.front().authority; };
    if (of.discard) return {};
    std::size_t before = 0;
    for (std::size_t i = 0; i < which; ++i) before += authority(i) == authority(which) ? 1 : 0;
    return numbered(authority(which), before);
}

}  // namespace

std::size_t count_backends(const upstream_config& of) {
    std::size_t count = of.store.backends.size();
    for (const replica_config& each : of.replicas) count += each.store.backends.size();
    return count;
}

std::size_t share_of_connections(const upstream_config& of, std::size_t workers) {
    const std::size_t shares = std::max<std::size_t>(1, workers * count_backends(of));
    return std::max<std::size_t>(1, static_cast<std::size_t>(of.connections_max) / shares);
}

shared_store::shared_store(const upstream_config& upstream_, std::size_t which, upstream_metrics& metrics_,
                           std::size_t workers)
    : upstream(upstream_),
      settings(store_at(upstream_, which)),
      metrics(metrics_),
      name(store_name(upstream_, which)),
      access(settings, store_key(which)),
      connections_each_max(share_of_connections(upstream_, workers)) {
    const auto& all = settings.backends;
    for (std::size_t i = 0; i < all.size(); ++i) backends.emplace_back(all[i], backend_name(all, i), all.size() == 1);
}

std::string shared_store::name_fault() {
    for (shared_backend& each : backends) {
        const std::string fault = each.resolving.fault();
        if (!fault.empty()) return each.at.host + ": " + fault;
    }
    return {};
}

}  // namespace seriesgate
