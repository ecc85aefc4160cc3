/// A body without the entries that were refused, decoded or compressed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "core/bytes.hpp"
#include "core/result.hpp"
#include "wire/decompression.hpp"

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

// --- The ways in which a remote-write body may be compressed.

enum class compression : std::uint8_t {
    snappy,  ///< the block format: every sender
    zstd,    ///< vmagent
};

/// Decodes and encodes either. Threads: one at a time.
class body_codec {
    /// As large as what usual requests need; that of giants is given back.
    static constexpr std::size_t kept_room_bytes = 16u << 20;

    zstd_codec zstd_;
    decode_buffer room_;

  public:
    /// How much room decode() will take, from what the body says of itself; checked against the bound.
    static result<std::size_t, wire_error> decoded_size(compression coding, bytes_view body,
                                                        std::uint64_t decoded_bytes_max) {
        return coding == compression::zstd ? zstd_decoded_size(body, decoded_bytes_max)
                                           : snappy_decoded_size(body, decoded_bytes_max);
    }
    /// @return a view into `buffer`, valid until its next use.
    result<bytes_view, wire_error> decode(compression coding, bytes_view body, std::uint64_t decoded_bytes_max,
                                          decode_buffer& buffer) {
        return coding == compression::zstd ? zstd_.decode(body, decoded_bytes_max, buffer)
                                           : snappy_decode(body, decoded_bytes_max, buffer);
    }
    /// @param out replaced.
    void encode(compression coding, bytes_view raw, std::string& out) {
        coding == compression::zstd ? zstd_.encode(raw, room_, out) : snappy_encode(raw, room_, out);
        give_back(room_, kept_room_bytes);
    }
    /// Encodes a body without the removed ranges, see splice.hpp.
    /// @param body what `decoded` was decoded from.
    /// @param kept room for what has to be encoded anew.
    /// @param out replaced.
    void encode_spliced(compression coding, bytes_view body, bytes_view decoded, std::span<const byte_range> removed,
                        std::string& kept, std::string& out) {
        if (coding == compression::zstd) {
            splice(decoded, removed, kept);
            zstd_.encode(kept, room_, out);
        } else {
            splice_snappy(body, decoded, removed, kept, room_, out);
        }
        give_back(room_, kept_room_bytes);
    }
};

}  // namespace seriesgate
