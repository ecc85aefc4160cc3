/// One split-block Bloom filter: one cache line a series, eight words with one bit each.
#pragma once

#include <atomic>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "core/bytes.hpp"
#include "core/state_stream.hpp"

namespace seriesgate {

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

}  // namespace seriesgate
