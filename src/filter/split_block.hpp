/// One split-block Bloom filter: one cache line a series, eight words with one bit each.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "core/state_stream.hpp"
#include "filter/page_memory.hpp"

namespace seriesgate {

__extension__ using uint128 = unsigned __int128;

/// Source: Putze, Sanders, Singler, "Cache-, Hash- and Space-Efficient Bloom Filters", 2009; the same layout with
/// 32-bit words is in the Parquet format (BloomFilter.md).
///
/// Threads: contains() and prefetch() any, beside insert(), without a lock (relaxed atomics: a bit once seen stays).
/// insert() any too, but whoever counts what is new calls it under the commit lock.
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
        block& line = blocks()[index_of(fingerprint)];
        const std::uint64_t positions = positions_of(fingerprint);
        bool was_new = false;
        for (unsigned i = 0; i < 8; ++i) {
            const std::uint64_t bit = std::uint64_t{1} << (positions >> 6 * i & 63);
            const word bits{line.words[i]};
            if ((bits.load(std::memory_order_relaxed) & bit) != 0) continue;
            was_new |= (bits.fetch_or(bit, std::memory_order_relaxed) & bit) == 0;
        }
        return was_new;
    }

    /// @return false only if the series was never inserted.
    [[nodiscard]] bool contains(std::uint64_t fingerprint) const noexcept {
        block& line = blocks()[index_of(fingerprint)];
        const std::uint64_t positions = positions_of(fingerprint);
        std::uint64_t all = 1;
        for (unsigned i = 0; i < 8; ++i)
            all &= word{line.words[i]}.load(std::memory_order_relaxed) >> (positions >> 6 * i & 63);
        return all != 0;
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
    split_block(page_memory memory, std::size_t block_count) : memory_(std::move(memory)), block_count_(block_count) {}

    [[nodiscard]] block* blocks() const noexcept { return static_cast<block*>(memory_.data()); }

    /// The high bits choose the block: fingerprint * block_count / 2^64.
    /// Source: Lemire, "Fast Random Integer Generation in an Interval", 2019.
    [[nodiscard]] std::size_t index_of(std::uint64_t fingerprint) const noexcept {
        return static_cast<std::size_t>(static_cast<uint128>(fingerprint) * block_count_ >> 64);
    }

    /// Eight times six bits. The fingerprint's high bits are spent on the block, so mix before taking positions.
    static std::uint64_t positions_of(std::uint64_t fingerprint) noexcept {
        const std::uint64_t mixed = fingerprint * 0x9e3779b97f4a7c15;  // 2^64 / golden ratio, odd
        return mixed ^ mixed >> 32;
    }
};

}  // namespace seriesgate
