/// The series admitted in one window: Bloom segments that grow with their number.
#pragma once

#include <array>
#include <atomic>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "core/bytes.hpp"
#include "core/state_stream.hpp"

namespace seriesgate {

// --- From capacity and false-positive rate to the size of a split-block Bloom filter, and back.

/// What a filter is made for.
struct filter_spec {
    std::uint64_t capacity = 0;      ///< distinct series
    double false_positive_rate = 0;  ///< at most, when `capacity` series are in
};

/// Bits of one block: a cache line.
inline constexpr double block_bits = 512;

/// Expected share of absent series that a filter of `blocks` blocks takes for present when it holds `series`.
///
/// The number of series in a block is Poisson with mean series/blocks. A block with k series has each bit of a word
/// set with probability 1 - (63/64)^k, and a lookup wants one bit in each of the 8 words.
/// Source: Putze, Sanders, Singler, "Cache-, Hash- and Space-Efficient Bloom Filters", 2009, section 3, for words of
/// 64 bits; measured against it in tests/filter.
double expected_false_positive_rate(std::uint64_t series, std::size_t blocks);

/// The fewest blocks that keep the promise of `spec`; at least one.
std::size_t blocks_for(const filter_spec& spec);

// --- One split-block Bloom filter: one cache line a series, eight words with one bit each.

/// Source: Putze, Sanders, Singler, "Cache-, Hash- and Space-Efficient Bloom Filters", 2009; the same layout with
/// 32-bit words is in the Parquet format (BloomFilter.md).
///
/// Threads: contains(), prefetch() and save() any, beside insert(), without a lock (relaxed atomics: a bit once seen
/// stays). insert() one at a time, for it writes words back without asking whether they have changed: eight locked
/// instructions would be half of its cost.
class split_block {
    using word = std::atomic_ref<std::uint64_t>;
    struct alignas(64) block {
        std::uint64_t words[8];
    };
    static_assert(sizeof(block) == 64);

    page_memory memory_;
    std::size_t block_count_;

  public:
    /// Allocates and zeroes `block_count` blocks of 64 bytes, touching every page: not for a request's path.
    explicit split_block(std::size_t block_count);

    /// Adds one series.
    /// @param fingerprint 64-bit hash of the series, see series/fingerprint.hpp.
    /// @return true if a bit was still clear: new, up to the false-positive rate given to sizing.hpp.
    bool insert(std::uint64_t fingerprint) noexcept {
        return set_bits(blocks()[index_of(fingerprint)], positions_of(fingerprint), all_words);
    }

    /// @return false only if the series was never inserted.
    [[nodiscard]] bool contains(std::uint64_t fingerprint) const noexcept {
        return has_bits(blocks()[index_of(fingerprint)], positions_of(fingerprint), all_words);
    }

    /// Starts loading the cache line that contains() or insert() will want.
    void prefetch(std::uint64_t fingerprint) const noexcept { __builtin_prefetch(&blocks()[index_of(fingerprint)]); }

    /// Writes all words, while inserts may go on. A bit that is set meanwhile may or may not be in it.
    bool save(state_encoder& out) const;
    /// A filter of `block_count` blocks as save() wrote them. Check in.good() after it.
    static split_block load(state_decoder& in, std::size_t block_count);

    [[nodiscard]] std::size_t block_count() const noexcept { return block_count_; }
    [[nodiscard]] std::size_t bytes() const noexcept { return block_count_ * sizeof(block); }

  private:
    split_block(page_memory memory, std::size_t block_count) : memory_(std::move(memory)), block_count_(block_count) {
        assert(block_count > 0 && reinterpret_cast<std::uintptr_t>(memory_.data()) % alignof(block) == 0);
    }

    [[nodiscard]] block* blocks() const noexcept { return static_cast<block*>(memory_.data()); }

    // Written out word by word: a loop over eight costs as much again as what it does.
    static constexpr std::make_index_sequence<8> all_words{};

    template <std::size_t... I>
    static bool has_bits(block& line, std::uint64_t positions, std::index_sequence<I...>) noexcept {
        return ((word{line.words[I]}.load(std::memory_order_relaxed) >> (positions >> 6 * I & 63)) & ... & 1) != 0;
    }

    /// @return whether one was clear.
    template <std::size_t... I>
    static bool set_bits(block& line, std::uint64_t positions, std::index_sequence<I...>) noexcept {
        return ((set_bit(line.words[I], positions >> 6 * I & 63) ^ 1) | ...) != 0;
    }

    /// @return the bit as it was.
    static std::uint64_t set_bit(std::uint64_t& bits, std::uint64_t position) noexcept {
        const std::uint64_t before = word{bits}.load(std::memory_order_relaxed);
        word{bits}.store(before | std::uint64_t{1} << position, std::memory_order_relaxed);
        return before >> position & 1;
    }

    /// The high bits choose the block: fingerprint * block_count / 2^64.
    /// Source: Lemire, "Fast Random Integer Generation in an Interval", 2019.
    [[nodiscard]] std::size_t index_of(std::uint64_t fingerprint) const noexcept {
        const auto index = static_cast<std::size_t>(static_cast<uint128>(fingerprint) * block_count_ >> 64);
        assert(index < block_count_);
        return index;
    }

    /// Eight times six bits. The fingerprint's high bits are spent on the block, so mix before taking positions.
    static std::uint64_t positions_of(std::uint64_t fingerprint) noexcept {
        const std::uint64_t mixed = fingerprint * 0x9e3779b97f4a7c15;  // 2^64 / golden ratio, odd
        return mixed ^ mixed >> 32;
    }
};

/// A chain of split-block filters. When one is full, inserts go to the next, larger one; lookups ask all, newest
/// first. The false-positive rate over the whole chain stays below the one it was made for: the segments get shares of
/// it that fall geometrically and sum to 1.
/// Source: Almeida et al., "Scalable Bloom Filters", 2007 (growth 4, tightening 1/2).
///
/// insert() never allocates: prepare_segment() does, ahead of need, called by maintenance. Who inserts asks has_room()
/// first. If maintenance has fallen behind, it has to get a segment before it inserts: no segment is filled beyond what
/// it was made for.
///
/// Threads: contains() and prefetch() any, without a lock. insert(), has_room() and adopt() under the commit lock.
/// wants_segment() and prepare_segment() one at a time, without the lock.
class admitted_set {
  public:
    struct segment {
        split_block filter;
        std::uint64_t capacity;
        std::atomic<std::uint64_t> count{0};
    };

    /// @param first what the first segment is sized for; its rate is the promise for the whole chain.
    /// @param capacity_max see set_capacity_max.
    explicit admitted_set(const filter_spec& first, std::uint64_t capacity_max = 0);

    [[nodiscard]] bool contains(std::uint64_t fingerprint) const noexcept {
        for (std::size_t i = segment_count_.load(std::memory_order_acquire); i-- > 0;)
            if (segments_[i]->filter.contains(fingerprint)) return true;
        return false;
    }

    /// Lookups worth having in flight at once; the memory system of current machines keeps ten to twenty.
    static constexpr std::size_t prefetch_distance = 16;

    /// Starts loading what contains() will look at.
    void prefetch(std::uint64_t fingerprint) const noexcept {
        for (std::size_t i = segment_count_.load(std::memory_order_acquire); i-- > 0;)
            segments_[i]->filter.prefetch(fingerprint);
    }

    /// Whether so many series can be inserted. @param count at most spare_capacity_min.
    [[nodiscard]] bool has_room(std::uint64_t count) const noexcept {
        assert(count <= spare_capacity_min);
        if (spare_) return true;
        const segment& last = *segments_[segment_count_.load(std::memory_order_relaxed) - 1];
        return last.count.load(std::memory_order_relaxed) + count <= last.capacity;
    }
    /// Whether so many series do not fit into the newest segment, and no other waits behind it. Threads: as has_room().
    [[nodiscard]] bool wants_segment_for(std::uint64_t count) const noexcept {
        const segment& last = *segments_[segment_count_.load(std::memory_order_relaxed) - 1];
        return !spare_ && last.count.load(std::memory_order_relaxed) + count > last.capacity;
    }
    /// Every segment but the first holds at least so many.
    static constexpr std::uint64_t spare_capacity_min = 64;

    /// Adds a series that contains() did not find. Precondition: has_room(1).
    void insert(std::uint64_t fingerprint) noexcept;

    /// @param capacity_max series that can come at most (the window's limit), so that no memory is made for more; 0 is
    ///        unlimited. Threads: any.
    void set_capacity_max(std::uint64_t capacity_max) noexcept {
        capacity_max_.store(capacity_max, std::memory_order_relaxed);
    }

    /// Whether the newest segment is nearly full, more may come, and no other is waiting behind it.
    [[nodiscard]] bool wants_segment() const noexcept;
    /// Allocates the next segment. Small chains grow to four times their capacity, large ones to twice.
    /// @param series_count that are known to come: it has room for all of them.
    [[nodiscard]] std::unique_ptr<segment> prepare_segment(std::uint64_t series_count = 0) const;
    /// Puts a prepared segment at the end of the chain, to be used when the one before it is full.
    void adopt(std::unique_ptr<segment> next) noexcept;

    /// Writes the chain, while inserts may go on: a series that is inserted meanwhile may or may not be in it.
    bool save(state_encoder& out) const;
    /// A set as save() wrote it, or null if that makes no sense. Its capacity is unlimited.
    static std::unique_ptr<admitted_set> restore(state_decoder& in);

    /// What the set was made for.
    [[nodiscard]] double promised_rate() const noexcept { return promised_rate_; }
    /// What the first segment is sized for.
    [[nodiscard]] std::uint64_t first_capacity() const noexcept { return segments_[0]->capacity; }
    /// Series inserted.
    [[nodiscard]] std::uint64_t size() const noexcept { return size_.load(std::memory_order_relaxed); }
    /// Memory of all segments, a waiting one included. Under the commit lock.
    [[nodiscard]] std::size_t bytes() const noexcept;
    /// Expected now, from what is in the segments: at most the promised rate unless growth fell behind.
    [[nodiscard]] double false_positive_rate() const;

  private:
    admitted_set() = default;

    // Each at least doubles the chain: 2^31 times the first capacity is beyond any memory.
    static constexpr std::size_t segments_max = 32;

    /// Of all segments in the chain. By the maintenance thread, or under the commit lock.
    [[nodiscard]] std::uint64_t chain_capacity() const noexcept;

    double promised_rate_ = 0;
    std::atomic<std::uint64_t> capacity_max_{0};
    std::array<std::unique_ptr<segment>, segments_max> segments_;
    /// Segments that may hold something: the last one takes the inserts.
    std::atomic<std::size_t> segment_count_{0};
    /// Adopted and still empty, or null; guarded by the commit lock, its presence is told by has_spare_.
    std::unique_ptr<segment> spare_;
    std::atomic<bool> has_spare_{false};
    std::atomic<std::uint64_t> size_{0};
};

}  // namespace seriesgate
