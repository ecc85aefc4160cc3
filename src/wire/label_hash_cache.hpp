/// Finds the label hash of a series by the bytes of its labels, without reading them.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/bytes.hpp"
#include "series/fingerprint.hpp"

namespace seriesgate {

// --- The cache.

/// In remote write 1, a series' labels are contiguous and the same in every request, so they need to be read only once.
/// Afterwards labels_key, a hash of all their bytes, finds their hash. Only valid labels are learned, and equal bytes
/// are equally valid. A wrong hit is as rare as two label sets with one fingerprint.
///
/// The table has buckets of a cache line; a full bucket uses its neighbour. It grows up to its bound.
/// Threads: any, without a lock.
class label_hash_cache {
  public:
    /// Enough for a million series; 20 to 45 bytes each while it grows, 16 when full.
    static constexpr std::size_t bytes_max = std::size_t{16} << 20;

    /// Memory is taken as series arrive. @param most_bytes a power of two, at least two buckets.
    explicit label_hash_cache(std::size_t most_bytes = bytes_max);

    void prefetch(std::uint64_t key) const noexcept { __builtin_prefetch(&bucket_of(key)); }

    /// @param key of labels_key: never 0. @param labels_hash set if the labels are known.
    [[nodiscard]] bool find(std::uint64_t key, std::uint64_t& labels_hash) const noexcept {
        return find_in(bucket_of(key), key, labels_hash) || find_in(neighbour_of(key), key, labels_hash);
    }

    /// @param displaces whether to replace another entry if there is no room. @return whether there was room.
    bool learn(std::uint64_t key, std::uint64_t labels_hash, bool displaces = false) noexcept;

    [[nodiscard]] std::size_t bytes() const noexcept {
        return (mask_.load(std::memory_order_relaxed) + 1) * sizeof(bucket);
    }

  private:
    /// Both numbers are atomic separately. `check` is key ^ sum, so the halves of a slot in the middle of a write do
    /// not match. A slot is empty if both are 0, because no key is 0.
    /// Source: Hyatt and Mann, "A lock-less transposition table implementation for parallel search", 2002.
    struct slot {
        std::uint64_t check;
        std::uint64_t sum;
    };
    struct alignas(64) bucket {
        slot slots[4];
    };
    static constexpr std::size_t first_buckets = 1'024;

    page_memory memory_;
    bucket* buckets_;
    std::size_t mask_max_;
    std::atomic<std::size_t> mask_;              // of the buckets in use
    alignas(64) std::atomic<std::size_t> used_;  // used slots; on its own cache line, so that writers delay no readers

    [[nodiscard]] bucket& bucket_of(std::uint64_t key) const noexcept {
        return buckets_[key & mask_.load(std::memory_order_relaxed)];
    }
    [[nodiscard]] bucket& neighbour_of(std::uint64_t key) const noexcept { return bucket_of(key ^ 1); }
    static std::uint64_t load(std::uint64_t& number) noexcept {
        return std::atomic_ref{number}.load(std::memory_order_relaxed);
    }

    /// Branch-free: the position of the hit is unpredictable.
    static bool find_in(bucket& in, std::uint64_t key, std::uint64_t& labels_hash) noexcept {
        std::uint64_t found = 0;
        bool is_found = false;
        for (slot& each : in.slots) {
            const std::uint64_t sum = load(each.sum);
            const bool is_it = (load(each.check) ^ sum) == key;
            found |= sum & -std::uint64_t{is_it};
            is_found |= is_it;
        }
        if (is_found) labels_hash = found;
        return is_found;
    }
    slot* free_slot(bucket& of, std::uint64_t key) noexcept;
    void note_used() noexcept;
};

// --- Keys.

/// Longer labels get no key: they are rare, and hashing them costs more than it saves.
inline constexpr std::size_t keyed_bytes_max = 4'096;

/// Hashes the written labels of several series with a key. Two label sets collide as rarely as random numbers, even if
/// an attacker knows all but the secret. Other processors may give other keys, so do not store them.
/// @param labels of each series; empty, or at most keyed_bytes_max bytes.
/// @param keys set to the key of each; 0 only for empty labels.
void labels_keys(std::span<const bytes_view> labels, const hash_key& key, std::uint64_t* keys) noexcept;

/// The version for any processor: text_hash().
void labels_keys_portable(std::span<const bytes_view> labels, const hash_key& key, std::uint64_t* keys) noexcept;

/// Decides whether lookups pay. A miss costs half of reading the labels; a hit saves a sixth of it on fast processors,
/// half on slow ones. So they pay while three in four hit, or while the table has room to learn. Otherwise the cache is
/// skipped except for occasional trials: a sender of unknown series costs at most a tenth more. Threads: one at a time.
class cache_admission {
    static constexpr std::int32_t price = 3;  // hits that pay for one miss
    static constexpr std::int32_t trial = 512 * price;
    static constexpr std::int32_t credit_max = 2 * trial;
    static constexpr std::int32_t entries_between_trials = 8'192;

    std::int32_t credit_ = credit_max;  // below 0: entries until the next trial
    std::uint32_t displacing_ = 0;

  public:
    [[nodiscard]] bool is_given() const noexcept { return credit_ > 0; }
    void add() noexcept { credit_ = std::min(credit_ + 1, credit_max); }
    /// Counts a miss that found no room.
    void take() noexcept {
        if (!is_given()) return;  // looked up before the credit ended
        credit_ -= price;
        if (credit_ <= 0) credit_ = -entries_between_trials;
    }
    /// Whether a miss may replace another entry. While most lookups hit, only one miss in eight does: with more series
    /// than room, known ones stay. While few hit, all do: after a rollout nobody asks for the old entries.
    bool displaces() noexcept { return credit_ <= trial || ++displacing_ % 8 == 0; }
    /// @param entries of a body that has been read.
    void pass(std::uint32_t entries) noexcept {
        if (credit_ > 0) return;
        const auto passed = static_cast<std::int32_t>(std::min<std::uint32_t>(entries, entries_between_trials));
        credit_ = credit_ + passed < 0 ? credit_ + passed : trial;
    }
};

}  // namespace seriesgate
