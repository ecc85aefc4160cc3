#include "filter/split_block.hpp"

#include <algorithm>
#include <cassert>
#include <vector>

namespace seriesgate {

split_block::split_block(std::size_t block_count) : split_block(page_memory{block_count * sizeof(block)}, block_count) {
    memory_.populate();
}

namespace {

/// Blocks that are copied at once: 64 KiB.
constexpr std::size_t chunk_blocks = 1024;
constexpr std::size_t words_per_block = 8;

}  // namespace

bool split_block::save(state_encoder& out) const {
    std::vector<std::uint64_t> chunk(chunk_blocks * words_per_block);
    for (std::size_t first = 0; first < block_count_ && out.good(); first += chunk_blocks) {
        const std::size_t count = std::min(chunk_blocks, block_count_ - first);
        for (std::size_t i = 0; i < count * words_per_block; ++i)
            chunk[i] =
                word{blocks()[first + i / words_per_block].words[i % words_per_block]}.load(std::memory_order_relaxed);
        assert(count > 0 && first + count <= block_count_);
        out.bytes({reinterpret_cast<const char*>(chunk.data()), count * sizeof(block)});
    }
    return out.good();
}

split_block split_block::load(state_decoder& in, std::size_t block_count) {
    split_block read{page_memory{block_count * sizeof(block)}, block_count};
    assert(read.bytes() == block_count * sizeof(block));
    // Nobody else knows this filter yet, so its words need not be written one by one.
    in.bytes(static_cast<char*>(read.memory_.data()), read.bytes());
    return read;
}

}  // namespace seriesgate
