/// Whether it pays to look labels up before they are read.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/bytes.hpp"
#include "series/fingerprint.hpp"

namespace seriesgate {

// --- What the labels of a series come to, found by their bytes.

/// In remote write 1 the labels of a series stand together, and come the same every time. So they need to be read only
/// once: afterwards a hash of all their bytes (labels_key) finds what that came to. Only labels that have been read and
/// found right are learned; as what labels say is settled by their bytes from the first one on, others with the same
/// bytes are right too. It never says what was not learned, but with the probability that two label sets have one
/// fingerprint.
///
/// A hash table of buckets of a cache line; what finds its own full goes to the neighbour. It grows while it may.
///
/// Threads: any, without a lock.
class label_hash_cache {
  public:
    /// Enough for a million series; 20 to 45 bytes each while it grows, 16 when it is full.
    static constexpr std::size_t bytes_max = std::size_t{16} << 20;

    /// Memory is taken as series come. @param most_bytes a power of two, and two buckets at least.
    explicit label_hash_cache(std::size_t most_bytes = bytes_max);

    /// Starts loading what find() will look at.
    void prefetch(std::uint64_t key) const noexcept { __builtin_prefetch(&bucket_of(key)); }

    /// @param key of labels_key: never 0.
    /// @param labels_hash becomes what the labels come to, if they are known.
    [[nodiscard]] bool find(std::uint64_t key, std::uint64_t& labels_hash) const noexcept {
        return find_in(bucket_of(key), key, labels_hash) || find_in(neighbour_of(key), key, labels_hash);
    }

    /// @param displaces whether, where there is no room, it takes the place of another.
    /// @return whether there was room.
    bool learn(std::uint64_t key, std::uint64_t labels_hash, bool displaces = false) noexcept;

    /// Of the buckets in use.
    [[nodiscard]] std::size_t bytes() const noexcept {
        return (mask_.load(std::memory_order_relaxed) + 1) * sizeof(bucket);
    }

  private:
    /// The numbers are read and written atomically, each by itself. `check` is key ^ sum: of a slot that is written
    /// while it is read, or by two at once, the halves do not match. Empty are those where both are 0, for no key is.
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
    alignas(64) std::atomic<std::size_t> used_;  // slots that are not empty; written when nobody else should wait

    [[nodiscard]] bucket& bucket_of(std::uint64_t key) const noexcept {
        return buckets_[key & mask_.load(std::memory_order_relaxed)];
    }
    [[nodiscard]] bucket& neighbour_of(std::uint64_t key) const noexcept { return bucket_of(key ^ 1); }
    static std::uint64_t load(std::uint64_t& number) noexcept {
        return std::atomic_ref{number}.load(std::memory_order_relaxed);
    }

    /// Which slot it is has no pattern, so there is no branch for it.
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

// --- The bytes of a series' labels as 64 bits.

/// Longer labels have no key: such are rare, and what is done for every byte of them is not worth it.
inline constexpr std::size_t keyed_bytes_max = 4'096;

/// A keyed hash of the labels as they are written, of several series at a time. Two label sets have one key with the
/// probability of two random numbers, also where who chooses them knows all but the secret. Another processor may make
/// other keys: they are not for keeping.
/// @param labels of each series; none, or at most keyed_bytes_max bytes.
/// @param keys becomes the key of each; 0 for no labels, and never 0 for others.
void labels_keys(std::span<const bytes_view> labels, const hash_key& key, std::uint64_t* keys) noexcept;

/// The one for any processor: text_hash().
void labels_keys_portable(std::span<const bytes_view> labels, const hash_key& key, std::uint64_t* keys) noexcept;

/// A lookup in vain costs half of a reading, and what is found saves a sixth of one where processors are fast (and half
/// where they are not). So it pays while three in four are found; and where there is room in the table, for what is
/// learned is found the next time. Else it is left alone, but for a try now and then: who sends nothing but what nobody
/// knows makes it cost a tenth more at most. Threads: one at a time.
class cache_admission {
    static constexpr std::int32_t price = 3;  // of one that is not found, in those that are
    static constexpr std::int32_t trial = 512 * price;
    static constexpr std::int32_t credit_max = 2 * trial;
    static constexpr std::int32_t entries_between_trials = 8'192;

    std::int32_t credit_ = credit_max;  // below 0: entries to go until the next trial
    std::uint32_t displacing_ = 0;

  public:
    [[nodiscard]] bool is_given() const noexcept { return credit_ > 0; }
    /// One was found.
    void add() noexcept { credit_ = std::min(credit_ + 1, credit_max); }
    /// One was not found, and there was no room for it.
    void take() noexcept {
        if (!is_given()) return;  // one of those that had been looked up already
        credit_ -= price;
        if (credit_ <= 0) credit_ = -entries_between_trials;
    }
    /// Whether what is not found takes the place of another where there is no room. While most is found, only one in
    /// eight: with more series than room, those that are known stay. When little is found all do: after a rollout, say,
    /// nobody asks any more for what is known.
    bool displaces() noexcept { return credit_ <= trial || ++displacing_ % 8 == 0; }
    /// @param entries of a body that has been read.
    void pass(std::uint32_t entries) noexcept {
        if (credit_ > 0) return;
        const auto passed = static_cast<std::int32_t>(std::min<std::uint32_t>(entries, entries_between_trials));
        credit_ = credit_ + passed < 0 ? credit_ + passed : trial;
    }
};

}  // namespace seriesgate
