/// What the limiter's parts work on.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "core/synchronization.hpp"
#include "limit/ledger.hpp"
#include "limit/limit_names.hpp"
#include "limit/refused_cache.hpp"
#include "limit/told.hpp"
#include "limit/window_sets.hpp"
#include "series/fingerprint.hpp"

namespace seriesgate {

/// Samples of refused series, in each window. Threads: any; the way without the lock counts here, too.
struct refused_samples {
    std::atomic<std::uint64_t> hourly{0};
    std::atomic<std::uint64_t> daily{0};

    void add(refusing_window window, std::uint64_t samples) noexcept {
        (window == refusing_window::hourly ? hourly : daily).fetch_add(samples, std::memory_order_relaxed);
    }
};

/// Three kinds of memory. What everyone may read at any time: the sets in force, the refused cache, the counters. What
/// only the lock's holder may touch: the ledger. What never changes: the key.
///
/// Who takes the ledger's lock holds it for a fraction of a millisecond, and then asks again: it is given in turn.
struct limiter_state {
    const hash_key key;  ///< of this installation, for the tables by tenant and group
    const limit_scope scope;
    refused_cache refused;
    refused_samples samples;
    std::atomic<std::uint64_t> commits{0};   ///< requests that had something to settle
    std::atomic<std::uint64_t> revision{0};  ///< changes whenever a snapshot would show it
    limit_names names;
    guarded<ledger> counts;
    sets_in_force sets;

    limiter_state(std::shared_ptr<const compiled_rules> rules, time_point now, const hash_key& installation,
                  limit_scope of);

    [[nodiscard]] bool is_shared() const noexcept { return scope == limit_scope::fleet; }
};

}  // namespace seriesgate
