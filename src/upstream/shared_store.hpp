/// A store and its backends, shared by all workers; their metric families.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "base/log.hpp"
#include "base/metrics.hpp"
#include "config/config.hpp"
#include "upstream/circuit_breaker.hpp"
#include "upstream/store_access.hpp"
#include "upstream/upstream_health.hpp"

namespace seriesgate {

/// One address of a store. Threads: any.
struct shared_backend {
    const store_backend& at;
    const std::string name;  ///< its authority; numbered if another backend of the store has the same
    const bool is_only;      ///< the store has no other backend
    circuit_breaker health{};
    name_health resolving{};
    throttled_log outages{};                ///< throttles the lines about its outages
    std::atomic<bool> outage_told{false};   ///< the log reports the end of an outage only if it reported the beginning
    std::atomic<unsigned> next_address{0};  ///< rotates over its addresses

    gauge in_flight{};  ///< of all workers
    gauge connections{};
    counter requests{};  ///< a request sent twice counts twice
    counter_by<upstream_error_reason> errors{};

    shared_backend(const store_backend& backend, std::string named, bool only)
        : at(backend), name(std::move(named)), is_only(only) {}
};

/// A store: one or several equal backends. Threads: any.
struct shared_store {
    const upstream_config& upstream;
    const store_config& settings;
    upstream_metrics& metrics;
    const std::string name;
    store_access access;
    std::deque<shared_backend> backends{};
    upstream_health health{};
    std::atomic<std::uint64_t> turn{0};
    const std::size_t connections_each_max;  ///< of one worker to one backend
    counter waits{};                         ///< requests that had to wait for a slot
    gauge waiting{};                         ///< requests waiting now

    /// @param which store of `upstream`: 0 is the first one, then the replicas.
    /// @param workers number of workers that share upstream.maxConnections. All arguments must outlive it. Throws as
    /// store_access does.
    shared_store(const upstream_config& upstream, std::size_t which, upstream_metrics& metrics, std::size_t workers);

    /// Why the name of a backend does not resolve, with the name; empty if all do, or no lookup has finished.
    [[nodiscard]] std::string name_fault();
};

[[nodiscard]] std::size_t count_backends(const upstream_config& of);

/// Connections that one worker may have to each backend, at least one. Equal parts of upstream.maxConnections: a slow
/// backend takes none from the others, and workers need not ask each other.
[[nodiscard]] std::size_t share_of_connections(const upstream_config& of, std::size_t workers);

// --- Metric families.

class exposition;

void write_backends(exposition& out, const std::vector<const shared_store*>& stores);

}  // namespace seriesgate
