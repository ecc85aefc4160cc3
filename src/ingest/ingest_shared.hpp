/// The store and its replicas, and all else that the ingestors of all workers share.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
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

/// A store that gets copies of what the first store gets. Threads: any.
struct shared_replica {
    const replica_config& settings;
    upstream_metrics metrics{};
    shared_store store;
    counter dropped{};  ///< requests not sent, see begin_copy
    counter samples_stored{};
    counter samples_failed{};  ///< an error, no answer, not sent, or not confirmed
    lost_log lost{};

    shared_replica(const upstream_config& upstream, std::size_t which, std::size_t workers)
        : settings(upstream.replicas[which - 1]), store(upstream, which, metrics, workers) {}
};

/// Threads: any.
struct shared_stores {
    /// Bounds of the copies in progress that no sender waits for: bytes of headers and bodies, and their number.
    static constexpr std::int64_t copies_bytes_max = 64 << 20;
    static constexpr std::int64_t copies_max = 4096;
    /// Approximate further cost of a copy: coroutines, connection buffers, connection slot.
    static constexpr std::int64_t copy_bytes_each = 8 << 10;

    shared_store first;
    std::deque<shared_replica> replicas{};
    std::atomic<std::int64_t> copies{};  ///< copies in progress that no sender waits for
    std::atomic<std::int64_t> copies_bytes{};

    shared_stores(const upstream_config& upstream, upstream_metrics& metrics, std::size_t workers);

    /// Rereads passwords, tokens and certificates whose files have changed. Waits for the disk.
    void refresh_files(const file_look& look);

    struct end_copy {
        std::int64_t bytes = 0;
        void operator()(shared_stores* of) const noexcept;
    };
    /// Room for a copy, while it lives.
    using copy_room = std::unique_ptr<shared_stores, end_copy>;
    /// @param bytes of its headers and body. @return null if a bound is exceeded; then nothing is reserved.
    [[nodiscard]] copy_room begin_copy(std::int64_t bytes) noexcept;

    [[nodiscard]] std::vector<const shared_store*> all() const;
};

void write(exposition& out, const shared_stores& stores);

// --- What all ingestors share.

class fleet_shared;
class series_sampler;
class warm_series;

/// Outlives the ingestors. Threads: any.
struct ingest_shared {
    const config& settings;
    series_limiter& limiter;
    const hash_key& key;  ///< of this installation
    ingest_metrics& metrics;
    shared_stores& stores;
    series_sampler& sampler;  ///< of new, returned and refused series
    warm_series& warm;
    fleet_shared* fleet = nullptr;  ///< set if several gates share their limits
    ingest_logs logs{};
    label_hash_cache labels{};

    /// The time by which requests are decided: the fleet's, or this gate's own.
    [[nodiscard]] time_point now() const noexcept;
};

}  // namespace seriesgate
