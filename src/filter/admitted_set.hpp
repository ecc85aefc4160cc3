/// The set of series admitted in one window: a chain of Bloom filters that grows with their number.
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

// --- Sizes of split-block Bloom filters.

struct filter_spec {
    std::uint64_t capacity = 0;      ///< distinct series
    double false_positive_rate = 0;  ///< at most, when `capacity` series are in
};

/// Bits of one block: a cache line.
inline constexpr double block_bits = 512;

/// The expected false-positive rate of a filter of `blocks` blocks with `series` series.
///
/// The number of series in a block is Poisson with mean series/blocks. With k series, each bit of a word is set with
/// probability 1 - (63/64)^k. A lookup tests one bit in each of 8 words.
/// Source: Putze, Sanders, Singler, "Cache-, Hash- and Space-Efficient Bloom Filters", 2009, section 3, for words of 64
/// bits; tests/filter measures it.
double expected_false_positive_rate(std::uint64_t series, std::size_t blocks);

/// The fewest blocks that keep the rate of `spec`; at least one.
std::size_t blocks_for(const filter_spec& spec);

// --- One filter: one cache line per series, one bit in each of eight words.

/// Source: Putze, Sanders, Singler, "Cache-, Hash- and Space-Efficient Bloom Filters", 2009; the Parquet format has the
/// same layout with 32-bit words (BloomFilter.md).
/// Threads: contains(), prefetch() and save() any, beside insert(), without a lock (relaxed atomics: a bit once seen
/// stays). insert() one at a time, because it stores words without compare-and-swap: eight locked instructions would be
/// half of its cost.
class split_block {
    using word = std::atomic_ref<std::uint64_t>;
    struct alignas(64) block {
        std::uint64_t words[8];
    };
    static_assert(sizeof(block) == 64);

    page_memory memory_;
    std::size_t block_count_;

  public:
    /// Allocates and zeroes `block_count` blocks of 64 bytes, touching every page: not on a request's path.
    explicit split_block(std::size_t block_count);

    /// Adds one series.
    /// @param fingerprint 64-bit hash of the series, see series/fingerprint.hpp.
    /// @return true if a bit was still clear: the series is new. False may be a false positive.
    bool insert(std::uint64_t fingerprint) noexcept {
        return set_bits(blocks()[index_of(fingerprint)], positions_of(fingerprint), all_words);
    }

    /// @return false only if the series was never inserted.
    // Not inlined: GCC would compute eight positions before the chain's loop, and keep them on the stack.
    [[nodiscard, gnu::noinline]] bool contains(std::uint64_t fingerprint) const noexcept {
        return has_bits(blocks()[index_of(fingerprint)], positions_of(fingerprint), all_words);
    }

    void prefetch(std::uint64_t fingerprint) const noexcept { __builtin_prefetch(&blocks()[index_of(fingerprint)]); }

    /// Writes all words, beside concurrent inserts; the result may or may not have their bits.
    bool save(state_encoder& out) const;
    /// Reads a filter of `block_count` blocks from save(). Check in.good() afterwards.
    static split_block load(state_decoder& in, std::size_t block_count);

    [[nodiscard]] std::size_t block_count() const noexcept { return block_count_; }
    [[nodiscard]] std::size_t bytes() const noexcept { return block_count_ * sizeof(block); }

  private:
    split_block(page_memory memory, std::size_t block_count) : memory_(std::move(memory)), block_count_(block_count) {
        assert(block_count > 0 && reinterpret_cast<std::uintptr_t>(memory_.data()) % alignof(block) == 0);
    }

    [[nodiscard]] block* blocks() const noexcept { return static_cast<block*>(memory_.data()); }

    // Unrolled: a loop over eight words doubles the cost.
    static constexpr std::make_index_sequence<8> all_words{};

    template <std::size_t... I>
    static bool has_bits(block& line, std::uint64_t positions, std::index_sequence<I...>) noexcept {
        return ((word{line.words[I]}.load(std::memory_order_relaxed) >> (positions >> 6 * I & 63)) & ... & 1) != 0;
    }

    /// @return whether a bit was clear.
    template <std::size_t... I>
    static bool set_bits(block& line, std::uint64_t positions, std::index_sequence<I...>) noexcept {
        return ((set_bit(line.words[I], positions >> 6 * I & 63) ^ 1) | ...) != 0;
    }

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

    /// Eight times six bits. The block uses the fingerprint's high bits, so the bits are mixed first.
    static std::uint64_t positions_of(std::uint64_t fingerprint) noexcept {
        const std::uint64_t mixed = fingerprint * 0x9e3779b97f4a7c15;  // 2^64 / golden ratio, odd
        return mixed ^ mixed >> 32;
    }
};

/// A chain of split-block filters. When one is full, inserts go to the next, larger one; lookups ask all, newest first.
/// The rate of the whole chain stays below the promised one: the segments' shares fall geometrically and sum to 1.
/// Source: Almeida et al., "Scalable Bloom Filters", 2007 (growth 4, tightening 1/2).
///
/// insert() never allocates: maintenance calls prepare_segment() ahead of need. Call has_room() before insert(); if it
/// is false, get a segment first. No segment is filled beyond its capacity.
/// Threads: contains() and prefetch() any, without a lock. insert(), has_room() and adopt() under the commit lock.
/// wants_segment() and prepare_segment() one at a time, without the lock.
class admitted_set {
  public:
    struct segment {
        split_block filter;
        std::uint64_t capacity;
        std::atomic<std::uint64_t> count{0};
    };

    /// @param first size of the first segment; its rate is promised for the whole chain.
    /// @param capacity_max see set_capacity_max.
    explicit admitted_set(const filter_spec& first, std::uint64_t capacity_max = 0);

    [[nodiscard]] bool contains(std::uint64_t fingerprint) const noexcept {
        for (std::size_t i = segment_count_.load(std::memory_order_acquire); i-- > 0;)
            if (segments_[i]->filter.contains(fingerprint)) return true;
        return false;
    }

    /// Lookups to keep in flight; the memory system of current machines supports ten to twenty.
    static constexpr std::size_t prefetch_distance = 16;

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
    /// Fewest series that any segment but the first holds.
    static constexpr std::uint64_t spare_capacity_min = 64;

    /// Adds a series that contains() did not find. Precondition: has_room(1).
    void insert(std::uint64_t fingerprint) noexcept;

    /// @param capacity_max most series possible (the window's limit), so that no memory is made for more; 0: unlimited.
    /// Threads: any.
    void set_capacity_max(std::uint64_t capacity_max) noexcept {
        capacity_max_.store(capacity_max, std::memory_order_relaxed);
    }

    /// Whether the newest segment is nearly full, more may come, and no spare follows.
    [[nodiscard]] bool wants_segment() const noexcept;
    /// Allocates the next segment. It makes small chains four times as large, large ones twice.
    [[nodiscard]] std::unique_ptr<segment> prepare_segment() const;
    /// Appends a prepared segment, to be used when the one before is full.
    void adopt(std::unique_ptr<segment> next) noexcept;

    /// Writes the chain, beside concurrent inserts; the result may or may not have them.
    bool save(state_encoder& out) const;
    /// A set from save(), with unlimited capacity; null if the bytes are inconsistent.
    static std::unique_ptr<admitted_set> restore(state_decoder& in);

    [[nodiscard]] double promised_rate() const noexcept { return promised_rate_; }
    /// Series that the first segment is sized for.
    [[nodiscard]] std::uint64_t first_capacity() const noexcept { return segments_[0]->capacity; }
    [[nodiscard]] std::uint64_t size() const noexcept { return size_.load(std::memory_order_relaxed); }
    /// Memory of all segments, including a spare. Under the commit lock.
    [[nodiscard]] std::size_t bytes() const noexcept;
    /// Expected at present; at most the promised rate, unless growth fell behind.
    [[nodiscard]] double false_positive_rate() const;

  private:
    admitted_set() = default;

    // Each makes the chain a quarter larger, and twice as large without a bound: a thousand times the first capacity.
    static constexpr std::size_t segments_max = 32;

    /// Of all segments. Threads: maintenance, or under the commit lock.
    [[nodiscard]] std::uint64_t chain_capacity() const noexcept;

    double promised_rate_ = 0;
    std::atomic<std::uint64_t> capacity_max_{0};
    std::array<std::unique_ptr<segment>, segments_max> segments_;
    /// Segments in use: the last one takes the inserts.
    std::atomic<std::size_t> segment_count_{0};
    /// Adopted and still empty, or null. Guarded by the commit lock; has_spare_ mirrors it.
    std::unique_ptr<segment> spare_;
    std::atomic<bool> has_spare_{false};
    std::atomic<std::uint64_t> size_{0};
};

}  // namespace seriesgate
