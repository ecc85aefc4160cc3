#include "filter/split_block.hpp"

namespace seriesgate {

// make_unique value-initialises: every word becomes zero, and every page is there before the first request comes.
split_block::split_block(std::size_t block_count)
    : blocks_(std::make_unique<block[]>(block_count)), block_count_(block_count) {}

}  // namespace seriesgate
