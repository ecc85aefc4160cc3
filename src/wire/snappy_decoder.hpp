/// Decodes snappy's elements: libsnappy's task, in a little over half of its time.
#pragma once

#include <cstddef>

#include "core/bytes.hpp"

namespace seriesgate {

/// Accepts what snappy::RawUncompress accepts, and makes the same of it; but no literal of 2^32 bytes, which that one
/// takes for an empty one, and stores written in Go refuse.
///
/// Most of a gate's time is this and the walk. libsnappy chooses between literals and copies without a branch, so that
/// where an element begins is known when the one before it has been worked out: some twenty cycles each. In a
/// remote-write request branches are foreseen well (a sample is nine elements, and the next one much like it), and what
/// is foreseen is not waited for. Where nothing can be foreseen (random elements) it takes up to 1.4 times libsnappy's
/// time. bench/README.md has figures, for both versions of libsnappy that Debian has.
///
/// @param elements a block behind its size.
/// @param out room for `size` bytes; what is in it afterwards is undefined where the block is refused.
/// @param size that the block says it has.
/// @return whether it is a block of that size.
bool snappy_decode_elements(bytes_view elements, char* out, std::size_t size) noexcept;

}  // namespace seriesgate
