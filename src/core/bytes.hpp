/// Byte ranges inside a request body.
#pragma once

#include <cassert>
#include <cstdint>
#include <string_view>

namespace seriesgate {

/// Bytes of a message, not text; the owner of the buffer outlives the view.
using bytes_view = std::string_view;

/// Part of a body as offset and length, both in bytes. 32 bits are enough: a decoded body is below 2 GiB
/// (the limit of Protocol Buffers), which decompression enforces.
struct byte_range {
    std::uint32_t offset = 0;
    std::uint32_t size = 0;

    [[nodiscard]] std::uint32_t end() const noexcept { return offset + size; }
    friend bool operator==(const byte_range&, const byte_range&) = default;
};

/// The bytes of `body` that `range` names. Precondition: the range lies inside the body.
inline bytes_view slice(bytes_view body, byte_range range) noexcept {
    assert(range.offset <= body.size() && range.size <= body.size() - range.offset);
    return {body.data() + range.offset, range.size};
}

/// Largest decoded body that is ever handled, in bytes.
inline constexpr std::uint64_t decoded_bytes_limit = (std::uint64_t{1} << 31) - 1;

}  // namespace seriesgate
