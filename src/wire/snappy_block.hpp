/// The snappy block format, behind bounds that are checked before anything is allocated.
/// Source: google/snappy format_description.txt.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "core/bytes.hpp"
#include "core/result.hpp"
#include "wire/decode_buffer.hpp"
#include "wire/wire_error.hpp"

namespace seriesgate {

/// The size that the block says it has, in bytes, without decoding it.
/// Errors: no bytes, the framing format, more than `decoded_bytes_max`, or more than a block of this size can hold
/// (a copy of 64 bytes takes 3 bytes, so a ratio above 22 is a lie; this is what stops decompression bombs).
result<std::size_t, wire_error> snappy_decoded_size(bytes_view compressed, std::uint64_t decoded_bytes_max);

/// Decodes a block. @return a view into `buffer`, valid until its next use.
result<bytes_view, wire_error> snappy_decode(bytes_view compressed, std::uint64_t decoded_bytes_max,
                                             decode_buffer& buffer);

/// Compresses `raw` as one block.
/// @param room to work in: snappy wants more than the result takes.
/// @param out replaced.
void snappy_encode(bytes_view raw, decode_buffer& room, std::string& out);

/// Appends `raw`, compressed, to `out`, without the size that a block begins with: a block is one size, then the output
/// of any number of these.
void snappy_append(bytes_view raw, decode_buffer& room, std::string& out);

}  // namespace seriesgate
