/// The state that all parts of the limiter share, including the cache of recent refusals.
#pragma once

#include <array>
#include <atomic>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "core/bytes.hpp"
#include "core/synchronization.hpp"
#include "limit/commit_state.hpp"
#include "limit/rules.hpp"
#include "limit/verdict.hpp"
#include "series/fingerprint.hpp"

namespace seriesgate {

// --- Recent refusals: refuses a series again without lock or rules.

/// A fixed table of fingerprints, eight to a cache line. A full line forgets its oldest entry; that series takes
/// another commit. No series is refused that was not refused before.
/// Threads: is_empty(), lookup() and prefetch() any, without a lock; insert() and clear() under the commit lock.
class refused_cache {
    static constexpr std::size_t ways = 8;
    struct alignas(64) line {
        std::array<std::atomic<std::uint64_t>, ways> entries;
    };
    std::uint64_t line_mask_;
    page_memory memory_;  // no page is touched before the first refusal
    /// XORed into every entry. A new salt invalidates all entries without touching the table. An old entry then matches
    /// a new key as rarely as fingerprints collide.
    std::atomic<std::uint64_t> salt_{0};
    std::atomic<bool> empty_{true};

  public:
    /// @param capacity_log2 at least capacity_log2_min; the table holds 2^capacity_log2 series of 8 bytes each.
    explicit refused_cache(unsigned capacity_log2)
        : line_mask_((std::uint64_t{1} << capacity_log2) / ways - 1), memory_(bytes()) {
        assert(capacity_log2 >= capacity_log2_min);
    }

    /// With fewer lines, the line index would not cover the fingerprint bits that an entry omits.
    static constexpr unsigned capacity_log2_min = 3 + 3 + limit_number_bits;

    /// Whether nothing was refused since the start or the last clear(). Saves new series a cache line each.
    [[nodiscard]] bool is_empty() const noexcept { return empty_.load(std::memory_order_relaxed); }

    [[nodiscard]] std::optional<refusal> lookup(std::uint64_t fingerprint) const noexcept {
        const std::uint64_t wanted = key(fingerprint);
        for (const auto& entry : line_of(fingerprint).entries) {
            const std::uint64_t difference = entry.load(std::memory_order_relaxed) ^ wanted;
            if (difference <= mark_max) return refusal_of(difference);
        }
        return std::nullopt;
    }

    void prefetch(std::uint64_t fingerprint) const noexcept { __builtin_prefetch(&line_of(fingerprint)); }

    /// @return the remembered refusal: the earlier one if the series has an entry already.
    refusal insert(std::uint64_t fingerprint, refusal refused) noexcept {
        assert(is_refused(refused.how) && refused.limit < limit_numbers_max);
        // Twice in a request, or refused in two requests at once: a second entry would push out another series.
        if (const auto before = lookup(fingerprint)) return *before;
        // First in, first out within the line, so entries from before a clear() leave first. A concurrent lookup may
        // miss an entry during the shift; that series takes another commit.
        auto& entries = line_of(fingerprint).entries;
        for (std::size_t i = ways - 1; i > 0; --i)
            entries[i].store(entries[i - 1].load(std::memory_order_relaxed), std::memory_order_relaxed);
        entries[0].store(key(fingerprint) ^ mark_of(refused), std::memory_order_relaxed);
        if (is_empty()) empty_.store(false, std::memory_order_relaxed);
        assert(lookup(fingerprint) == refused);
        return refused;
    }

    void clear() noexcept {
        salt_.store(salt_.load(std::memory_order_relaxed) + salt_step, std::memory_order_relaxed);
        empty_.store(true, std::memory_order_relaxed);
    }

    [[nodiscard]] std::size_t bytes() const noexcept { return (line_mask_ + 1) * sizeof(line); }

  private:
    [[nodiscard]] line& line_of(std::uint64_t fingerprint) const noexcept {
        return static_cast<line*>(memory_.data())[fingerprint & line_mask_];
    }

    // The low bits of an entry hold the refusal: three for the verdict, the others for the limit. The line index covers
    // these bits of the fingerprint, so none is lost.
    static constexpr std::uint64_t hows = 8;
    static constexpr unsigned mark_bits = 3 + limit_number_bits;
    static constexpr std::uint64_t mark_max = (std::uint64_t{1} << mark_bits) - 1;
    static constexpr auto first_how = static_cast<std::uint64_t>(verdict::refused_hourly);
    static_assert(static_cast<std::uint64_t>(verdict::refused_active_reported) < first_how + hows);
    static constexpr std::uint64_t salt_step = 0x9e3779b97f4a6000;  // leaves the mark bits zero
    static_assert((salt_step & mark_max) == 0);

    [[nodiscard]] static constexpr std::uint64_t mark_of(const refusal& refused) noexcept {
        return refused.limit * hows + static_cast<std::uint64_t>(refused.how) - first_how;
    }
    [[nodiscard]] static constexpr refusal refusal_of(std::uint64_t mark) noexcept {
        return {.how = static_cast<verdict>(first_how + mark % hows), .limit = static_cast<limit_number>(mark / hows)};
    }

    /// Never a mark alone: a zero entry means never written.
    [[nodiscard]] std::uint64_t key(std::uint64_t fingerprint) const noexcept {
        const std::uint64_t salted = (fingerprint ^ salt_.load(std::memory_order_relaxed)) & ~mark_max;
        return salted == 0 ? ~mark_max : salted;
    }
};

/// Samples of refused series in each window. Threads: any; lookups count here without the lock.
struct refused_samples {
    std::array<std::atomic<std::uint64_t>, refusing_windows> by_window{};

    [[nodiscard]] auto& in(refusing_window window) noexcept { return by_window[static_cast<std::size_t>(window)]; }
    [[nodiscard]] std::uint64_t read(refusing_window window) const noexcept {
        return by_window[static_cast<std::size_t>(window)].load(std::memory_order_relaxed);
    }
    void add(refusing_window window, std::uint64_t samples) noexcept {
        in(window).fetch_add(samples, std::memory_order_relaxed);
    }
};

/// Three kinds of state. Readable at any time: sets in force, refused cache, counters. Under the commit lock: `commit`.
/// Constant: key and scope.
///
/// Hold the lock of `commit` for a fraction of a millisecond, then lock again: it is granted in order of arrival.
struct limiter_state {
    const hash_key key;  ///< of this installation, for the hash tables by tenant and group
    const limit_scope scope;
    refused_cache refused;
    refused_samples samples;
    std::atomic<std::uint64_t> commits{0};      ///< requests with something to commit
    std::atomic<std::uint64_t> revision{0};     ///< changes whenever a snapshot would differ
    std::atomic<std::uint64_t> losses{0};       ///< fleet: times that the store lost data, see telling.hpp
    std::atomic<std::int64_t> lapsed_hour{-1};  ///< fleet: see note_lapse() in telling.hpp
    limit_names names;
    guarded<commit_state> commit;
    published<window_sets> sets;  ///< in force; publish() replaces them
    /// Lets one thread make memory while others wait: for one segment, or one partition of a table. Locked before the
    /// commit lock. Fair, because maintenance locks it again at once.
    fair_mutex growth{};

    limiter_state(std::shared_ptr<const compiled_rules> rules, time_point now, const hash_key& instance_identity,
                  limit_scope of, set_kind set);

    [[nodiscard]] bool is_shared() const noexcept { return scope == limit_scope::fleet; }
};

}  // namespace seriesgate
