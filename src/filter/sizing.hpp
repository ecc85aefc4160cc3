/// From capacity and false-positive rate to the size of a split-block Bloom filter, and back.
#pragma once

#include <cstddef>
#include <cstdint>

namespace seriesgate {

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

}  // namespace seriesgate
