/// One split-block Bloom filter: one cache line a series, eight words with one bit each.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace seriesgate {

__extension__ using uint128 = unsigned __int128;

/// Source: Putze, Sanders, Singler, "Cache-, Hash- and Space-Efficient Bloom Filters", 2009; the same layout with
/// 32-bit words is in the Parquet format (BloomFilter.md).
///
/// Threads: contains() and prefetch() any, beside insert(), without a lock (relaxed atomics: a bit once seen stays).
/// insert() any too, but whoever counts what is new calls it under the commit lock.
class split_block {
    struct alignas(64) block {
        std::atomic<std::uint64_t> words[8];
    };
    static_assert(sizeof(block) == 64);

    std::unique_ptr<block[]> blocks_;
    std::size_t block_count_;

  public:
    /// Allocates and zeroes `block_count` blocks of 64 bytes, touching every page: not for a request's path.
    explicit split_block(std::size_t block_count);

    /// Adds one series.
    /// @param fingerprint 64-bit hash of the series, see series/fingerprint.hpp.
    /// @return true if a bit was still clear: new, up to the false-positive rate given to sizing.hpp.
    bool insert(std::uint64_t fingerprint) noexcept {
        block& line = blocks_[index_of(fingerprint)];
        const std::uint64_t positions = positions_of(fingerprint);
        bool was_new = false;
        for (unsigned i = 0; i < 8; ++i) {
            const std::uint64_t bit = std::uint64_t{1} << (positions >> 6 * i & 63);
            if ((line.words[i].load(std::memory_order_relaxed) & bit) != 0) continue;
            was_new |= (line.words[i].fetch_or(bit, std::memory_order_relaxed) & bit) == 0;
        }
        return was_new;
    }

    /// @return false only if the series was never inserted.
    [[nodiscard]] bool contains(std::uint64_t fingerprint) const noexcept {
        const block& line = blocks_[index_of(fingerprint)];
        const std::uint64_t positions = positions_of(fingerprint);
        std::uint64_t all = 1;
        for (unsigned i = 0; i < 8; ++i)
            all &= line.words[i].load(std::memory_order_relaxed) >> (positions >> 6 * i & 63);
        return all != 0;
    }

    /// Starts loading the cache line that contains() or insert() will want.
    void prefetch(std::uint64_t fingerprint) const noexcept { __builtin_prefetch(&blocks_[index_of(fingerprint)]); }

    [[nodiscard]] std::size_t block_count() const noexcept { return block_count_; }
    [[nodiscard]] std::size_t bytes() const noexcept { return block_count_ * sizeof(block); }

  private:
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
