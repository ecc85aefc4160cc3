/// Removes refused entries from a body, and re-encodes it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "core/bytes.hpp"
#include "core/result.hpp"
#include "wire/decompression.hpp"

namespace seriesgate {

/// Bytes of `body` without the removed ranges.
/// @param removed ascending, disjoint, inside the body.
[[nodiscard]] std::size_t spliced_size(bytes_view body, std::span<const byte_range> removed) noexcept;

/// Copies `body` without the removed ranges; the remaining bytes are unchanged.
/// @param removed as above.
/// @param out replaced.
void splice(bytes_view body, std::span<const byte_range> removed, std::string& out);

/// Compresses `body` without the removed ranges as a snappy block. Reuses parts of `compressed` where that saves much.
/// @param compressed a snappy block that decodes to `body`.
/// @param removed as above.
/// @param kept work space for bytes to compress.
/// @param room work space for the compressed bytes.
/// @param out replaced.
void splice_snappy(bytes_view compressed, bytes_view body, std::span<const byte_range> removed, std::string& kept,
                   decode_buffer& room, std::string& out);

// --- Encodings of a body.

enum class compression : std::uint8_t {
    snappy,  ///< the block format: every sender
    zstd,    ///< vmagent
};

/// Decodes and encodes both. Threads: one at a time.
class body_codec {
    /// Room for usual requests; more is freed after each request.
    static constexpr std::size_t kept_room_bytes = 16u << 20;

    zstd_codec zstd_;
    decode_buffer room_;

  public:
    /// The room that decode() needs, as the body declares it; checked against the bound.
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
    /// Encodes a body without the removed ranges, see splice().
    /// @param body the encoded form of `decoded`.
    /// @param kept work space for bytes to encode.
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
