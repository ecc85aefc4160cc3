/// What the labels of a series come to, found by their bytes.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "core/bytes.hpp"

namespace seriesgate {

/// In remote write 1 the labels of a series stand together, and come the same every time. So they need to be read only
/// once: afterwards a hash of all their bytes (labels_key) finds what that came to. Only labels that have been read and
/// found right are learned; as what labels say is settled by their bytes from the first one on, others with the same
/// bytes are right too. It never says what was not learned, but with the probability that two label sets have one
/// fingerprint.
///
/// A hash table of buckets of a cache line; what finds its own full goes to the neighbour. It grows while it may.
///
/// Threads: any, without a lock.
class known_labels {
  public:
    /// Enough for a million series; 20 to 45 bytes each while it grows, 16 when it is full.
    static constexpr std::size_t bytes_max = std::size_t{16} << 20;

    /// Memory is taken as series come. @param most_bytes a power of two, and two buckets at least.
    explicit known_labels(std::size_t most_bytes = bytes_max);

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

}  // namespace seriesgate
