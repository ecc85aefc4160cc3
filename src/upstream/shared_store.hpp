/// A store and its backends, as all workers see them together.
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
    const std::string name;  ///< its authority; with a number if another backend of its store has that, too
    const bool is_only;      ///< there is no other to choose in its place
    circuit_breaker health{};
    name_health resolving{};
    sparse_log outages{};                   ///< lines that it is out
    std::atomic<bool> outage_told{false};   ///< of an end is told only then
    std::atomic<unsigned> next_address{0};  ///< connections begin with each of its addresses in turn

    gauge in_flight{};    ///< requests of all workers
    gauge connections{};  ///< open, idle ones included
    counter requests{};   ///< sent there; one that is sent again counts twice
    counter_by<upstream_error_reason> errors{};

    shared_backend(const store_backend& backend, std::string named, bool only)
        : at(backend), name(std::move(named)), is_only(only) {}
};

/// Equal backends. Threads: any.
struct shared_store {
    const upstream_config& upstream;
    const store_config& settings;
    upstream_metrics& metrics;
    const std::string name;  ///< in logs and metrics
    store_access access;
    std::deque<shared_backend> backends{};
    upstream_health health{};
    std::atomic<std::uint64_t> turn{0};      ///< counts choices
    const std::size_t connections_each_max;  ///< of one worker to one backend
    counter waits{};                         ///< requests that had to wait for a connection
    gauge waiting{};                         ///< those that do now

    /// @param which of the stores of `upstream`: 0 is the first one, then the replicas.
    /// @param workers that share upstream.maxConnections.
    /// What is passed must outlive it. Throws as store_access does.
    shared_store(const upstream_config& upstream, std::size_t which, upstream_metrics& metrics, std::size_t workers);

    /// Why the name of one of its backends does not resolve, with the name; empty if all do, or nobody knows yet.
    [[nodiscard]] std::string name_fault();
};

/// URLs of all stores together.
[[nodiscard]] std::size_t count_backends(const upstream_config& of);

/// What one worker may have of upstream.maxConnections at each backend, at least one. Each worker has an equal part for
/// each backend: a backend that is slow takes nothing from the others, and nobody has to ask another thread for a
/// connection.
[[nodiscard]] std::size_t share_of_connections(const upstream_config& of, std::size_t workers);

// --- Families about the backends of all stores.

class exposition;
struct shared_store;

void write_backends(exposition& out, const std::vector<const shared_store*>& stores);

}  // namespace seriesgate
