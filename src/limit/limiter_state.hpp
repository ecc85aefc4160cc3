/// What the limiter's parts work on.
#pragma once

#include <array>
#include <atomic>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "core/synchronization.hpp"
#include "limit/commit_state.hpp"
#include "limit/rules.hpp"
#include "limit/verdict.hpp"
#include "series/fingerprint.hpp"

namespace seriesgate {

// --- Exact memory of recent refusals, so that a refused series is refused again without a lock or a rule.

/// A fixed table of fingerprints, eight to a cache line. A full line forgets its oldest, which costs time (the series
/// goes through the commit again), never correctness: nothing is refused that was not refused before.
///
/// Threads: is_empty(), lookup() and prefetch() any, without a lock; insert() and clear() under the commit lock.
class refused_cache {
    static constexpr std::size_t ways = 8;
    struct alignas(64) line {
        std::array<std::atomic<std::uint64_t>, ways> entries;
    };
    std::unique_ptr<line[]> lines_;
    std::uint64_t line_mask_;
    /// XORed into every entry: another salt makes all entries foreign at once, without touching the table. An old
    /// entry then equals a new key with the probability of a fingerprint collision.
    std::atomic<std::uint64_t> salt_{0};
    std::atomic<bool> empty_{true};

  public:
    /// @param capacity_log2 2^capacity_log2 series, 8 bytes each. At least capacity_log2_min.
    explicit refused_cache(unsigned capacity_log2)
        : lines_(std::make_unique<line[]>((std::size_t{1} << capacity_log2) / ways)),
          line_mask_((std::uint64_t{1} << capacity_log2) / ways - 1) {
        assert(capacity_log2 >= capacity_log2_min);
    }

    /// With fewer lines they would not tell the bits that an entry leaves out.
    static constexpr unsigned capacity_log2_min = 3 + 2 + limit_number_bits;

    /// Whether nothing was refused since the start or the last clear(): then there is nothing to look for, which spares
    /// new series a cache line each.
    [[nodiscard]] bool is_empty() const noexcept { return empty_.load(std::memory_order_relaxed); }

    /// @return how the series was refused, if that is remembered.
    [[nodiscard]] std::optional<refusal> lookup(std::uint64_t fingerprint) const noexcept {
        const std::uint64_t wanted = key(fingerprint);
        for (const auto& entry : lines_[fingerprint & line_mask_].entries) {
            const std::uint64_t difference = entry.load(std::memory_order_relaxed) ^ wanted;
            if (difference <= mark_max) return refusal_of(difference);
        }
        return std::nullopt;
    }

    /// Starts loading the line that lookup() will want.
    void prefetch(std::uint64_t fingerprint) const noexcept { __builtin_prefetch(&lines_[fingerprint & line_mask_]); }

    /// @return the refusal that is remembered: the first one, if the series is here already.
    refusal insert(std::uint64_t fingerprint, refusal said) noexcept {
        assert(is_refused(said.how) && said.by < limit_numbers_max);
        // Twice in a request, or refused for two requests at once: an entry more would push out another series.
        if (const auto before = lookup(fingerprint)) return *before;
        // First in, first out within the line: what a clear() has left behind goes first. A lookup in the middle of the
        // shift may miss an entry, which costs that series a commit.
        auto& entries = lines_[fingerprint & line_mask_].entries;
        for (std::size_t i = ways - 1; i > 0; --i)
            entries[i].store(entries[i - 1].load(std::memory_order_relaxed), std::memory_order_relaxed);
        entries[0].store(key(fingerprint) ^ mark_of(said), std::memory_order_relaxed);
        if (is_empty()) empty_.store(false, std::memory_order_relaxed);
        assert(lookup(fingerprint) == said);
        return said;
    }

    /// Forgets everything: budgets may have room again.
    void clear() noexcept {
        salt_.store(salt_.load(std::memory_order_relaxed) + salt_step, std::memory_order_relaxed);
        empty_.store(true, std::memory_order_relaxed);
    }

    [[nodiscard]] std::size_t bytes() const noexcept { return (line_mask_ + 1) * sizeof(line); }

  private:
    // The low bits of an entry tell which refusal it is: two of them how, the others by which limit. Those bits of the
    // fingerprint say in which line it is, so none of it is lost.
    static constexpr std::uint64_t hows = 4;
    static constexpr unsigned mark_bits = 2 + limit_number_bits;
    static constexpr std::uint64_t mark_max = (std::uint64_t{1} << mark_bits) - 1;
    static constexpr auto first_how = static_cast<std::uint64_t>(verdict::refused_hourly);
    static_assert(static_cast<std::uint64_t>(verdict::refused_daily_reported) == first_how + hows - 1);
    static constexpr std::uint64_t salt_step = 0x9e3779b97f4a7000;  // leaves the marks alone
    static_assert((salt_step & mark_max) == 0);

    [[nodiscard]] static constexpr std::uint64_t mark_of(const refusal& said) noexcept {
        return said.by * hows + static_cast<std::uint64_t>(said.how) - first_how;
    }
    [[nodiscard]] static constexpr refusal refusal_of(std::uint64_t mark) noexcept {
        return {.how = static_cast<verdict>(first_how + mark % hows), .by = static_cast<limit_number>(mark / hows)};
    }

    /// Never a mark alone: a zero entry is one that was never written.
    [[nodiscard]] std::uint64_t key(std::uint64_t fingerprint) const noexcept {
        const std::uint64_t salted = (fingerprint ^ salt_.load(std::memory_order_relaxed)) & ~mark_max;
        return salted == 0 ? ~mark_max : salted;
    }
};

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
    guarded<commit_state> counts;
    sets_in_force sets;

    limiter_state(std::shared_ptr<const compiled_rules> rules, time_point now, const hash_key& instance_identity,
                  limit_scope of);

    [[nodiscard]] bool is_shared() const noexcept { return scope == limit_scope::fleet; }
};

}  // namespace seriesgate
