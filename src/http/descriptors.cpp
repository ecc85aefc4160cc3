#include "http/descriptors.hpp"

#include <sys/resource.h>

#include <algorithm>

#include "http/connections.hpp"

namespace seriesgate {
namespace {

constexpr std::size_t connections_min = 8;
/// Listeners, signals, standard streams, state, configuration and /proc; then a worker's event queue and name lookups.
constexpr std::size_t taken_by_process = 64;
constexpr std::size_t taken_by_worker = 16;

/// What `connections` may need at the worst.
std::size_t needed(std::size_t connections, const descriptor_use& others) noexcept {
    const std::size_t at_work_upstream = connections;
    // A pool is as large as its worker has had requests at once.
    const std::size_t idle_upstream = std::min(others.idle_upstream_max, connections) * others.workers;
    const std::size_t of_admin =
        others.admin_connections == 0 ? 0 : connection_registry::open_max(others.admin_connections);
    const std::size_t upstream =
        others.has_replicas ? others.upstream_max : std::min(others.upstream_max, at_work_upstream + idle_upstream);
    return connection_registry::open_max(connections) + of_admin + upstream + taken_by_process +
           taken_by_worker * (others.workers + 2);
}

}  // namespace

std::size_t connections_that_fit(std::uint64_t descriptors, const descriptor_use& others) noexcept {
    std::size_t fit = connections_min;
    std::size_t too_many = static_cast<std::size_t>(std::min<std::uint64_t>(descriptors, 1u << 30)) + connections_min;
    while (too_many - fit > 1) {
        const std::size_t between = fit + (too_many - fit) / 2;
        (needed(between, others) <= descriptors ? fit : too_many) = between;
    }
    return fit;
}

std::uint64_t descriptor_limit() noexcept {
    rlimit limit{};
    return ::getrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_cur : 1024;  // what it usually is
}

std::uint64_t raise_descriptor_limit() noexcept {
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        static_cast<void>(::setrlimit(RLIMIT_NOFILE, &limit));  // what holds then is asked for below
    }
    return descriptor_limit();
}

}  // namespace seriesgate
