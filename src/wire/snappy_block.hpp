/// The snappy block format, behind bounds that are checked before anything is allocated.
/// Source: google/snappy format_description.txt.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "core/bytes.hpp"
#include "core/result.hpp"
#include "wire/wire_error.hpp"

namespace seriesgate {

/// Bytes that are not zeroed when the buffer grows; it never shrinks unless told.
class decode_buffer {
    std::unique_ptr<char[]> bytes_;
    std::size_t capacity_ = 0;

  public:
    /// @return room for `size` bytes, contents undefined.
    char* reserve(std::size_t size);
    /// Gives memory above `size` bytes back, so that one huge request is not held for ever.
    void shrink(std::size_t size);
    [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }
};

/// The size that the block says it has, in bytes, without decoding it.
/// Refused: no bytes, the framing format, more than `decoded_bytes_max`, or more than a block of this size can hold
/// (a copy of 64 bytes takes 3 bytes, so a ratio above 22 is a lie; this is what stops decompression bombs).
result<std::size_t, wire_error> snappy_decoded_size(bytes_view compressed, std::uint64_t decoded_bytes_max);

/// Decodes a block. @return a view into `buffer`, valid until its next use.
result<bytes_view, wire_error> snappy_decode(bytes_view compressed, std::uint64_t decoded_bytes_max,
                                             decode_buffer& buffer);

/// Compresses `raw` as one block. @param out replaced.
void snappy_encode(bytes_view raw, std::string& out);

}  // namespace seriesgate
