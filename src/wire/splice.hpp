/// A body without the entries that were refused, decoded or compressed.
#pragma once

#include <span>
#include <string>

#include "core/bytes.hpp"
#include "wire/decode_buffer.hpp"

namespace seriesgate {

/// Copies `body` without the removed ranges: what is left is unchanged, to the byte.
/// @param removed ascending, disjoint, inside the body.
/// @param out replaced.
void splice(bytes_view body, std::span<const byte_range> removed, std::string& out);

/// Compresses `body` without the removed ranges as a snappy block. Where it saves much, the bytes in front of them are
/// taken over from `compressed`.
/// @param compressed a snappy block that decodes to `body`.
/// @param removed as above.
/// @param kept to work in: what has to be compressed anew.
/// @param room to work in: the same, compressed.
/// @param out replaced.
void splice_snappy(bytes_view compressed, bytes_view body, std::span<const byte_range> removed, std::string& kept,
                   decode_buffer& room, std::string& out);

}  // namespace seriesgate
