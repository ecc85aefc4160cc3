/// The store and its replicas, as all workers see them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "base/metrics.hpp"
#include "config/config.hpp"
#include "ingest/ingest_logs.hpp"
#include "ingest/ingest_metrics.hpp"
#include "series/fingerprint.hpp"
#include "upstream/shared_store.hpp"
#include "upstream/upstream_health.hpp"
#include "wire/label_hash_cache.hpp"

namespace seriesgate {

class exposition;

/// A store that gets what the first one gets. Threads: any.
struct shared_replica {
    const replica_config& settings;
    upstream_metrics metrics{};
    shared_store store;
    counter dropped{};         ///< requests that it was not sent, see begin_copy
    counter samples_stored{};  ///< it has confirmed them
    counter samples_failed{};  ///< it has not: an error, no answer, not sent, or it says so
    lost_log lost{};

    shared_replica(const upstream_config& upstream, std::size_t which, std::size_t workers)
        : settings(upstream.replicas[which - 1]), store(upstream, which, metrics, workers) {}
};

/// Threads: any.
struct shared_stores {
    /// Requests on their way to replicas that nobody waits for, with headers and bodies, and how many there are.
    static constexpr std::int64_t copies_bytes_max = 64 << 20;
    static constexpr std::int64_t copies_max = 4096;
    /// What each takes besides: its coroutines, its connection's buffers and its place, roughly.
    static constexpr std::int64_t copy_bytes_each = 8 << 10;

    shared_store first;
    std::deque<shared_replica> replicas{};
    gauge copies{};        ///< requests on their way to them
    gauge copies_bytes{};  ///< and what they take

    /// @param metrics of the first one.
    shared_stores(const upstream_config& upstream, upstream_metrics& metrics, std::size_t workers);

    /// Reads passwords, tokens and certificates again that have changed. Waits for the disk.
    void refresh_files(const file_look& look);

    /// @param bytes of its headers and its body.
    /// @return false if that is too much; nothing has begun then.
    [[nodiscard]] bool begin_copy(std::int64_t bytes) noexcept;
    void end_copy(std::int64_t bytes) noexcept;

    /// The first one, then the replicas.
    [[nodiscard]] std::vector<const shared_store*> all() const;
};

/// Families of replicas, and of all backends.
void write(exposition& out, const shared_stores& stores);

// --- What the ingestors of all workers have in common.

class fleet_shared;
class series_sampler;
class series_limiter;

/// Outlives them; any thread may use it at any time.
struct ingest_shared {
    const config& settings;
    series_limiter& limiter;
    const hash_key& key;  ///< of this installation
    ingest_metrics& metrics;
    shared_stores& stores;
    series_sampler& noted;          ///< the new and the refused series
    fleet_shared* fleet = nullptr;  ///< with one limit for several gates
    ingest_logs logs{};
    label_hash_cache labels{};  ///< of the series that have come
};

}  // namespace seriesgate
