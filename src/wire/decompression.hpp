/// Decodes and encodes snappy and zstd bodies; checks bounds before anything is allocated.
/// Source of zstd: RFC 8878.
#pragma once

#include <zstd.h>

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "core/bytes.hpp"
#include "core/result.hpp"
#include "wire/wire_error.hpp"

namespace seriesgate {

// --- The buffer of a decoded body, reused by all requests.

/// Bytes that are not zeroed on growth. Keeps its memory until give_back (core/bytes.hpp).
class decode_buffer {
    std::unique_ptr<char[]> bytes_;
    std::size_t capacity_ = 0;

  public:
    using value_type = char;

    /// @return room for `size` bytes with undefined content; the old content is lost.
    char* room_for(std::size_t size) {
        if (size > capacity_) {
            const std::size_t grown = std::max(size, capacity_ + capacity_ / 2);
            decode_buffer{}.swap(*this);  // first: never hold both
            bytes_ = std::make_unique_for_overwrite<char[]>(grown);
            capacity_ = grown;
        }
        assert(size <= capacity_);
        return bytes_.get();
    }

    [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }

    void swap(decode_buffer& other) noexcept {
        std::swap(bytes_, other.bytes_);
        std::swap(capacity_, other.capacity_);
    }
};

// --- The snappy block format.
// Source: google/snappy format_description.txt.

/// The size in bytes that the block declares, without decoding.
/// Errors: no bytes, the framing format, more than `decoded_bytes_max`, or more than 22 times the block's size. The
/// last stops decompression bombs: a copy of 64 bytes takes 3 bytes.
result<std::size_t, wire_error> snappy_decoded_size(bytes_view compressed, std::uint64_t decoded_bytes_max);

/// Decodes a block. @return a view into `buffer`, valid until its next use.
result<bytes_view, wire_error> snappy_decode(bytes_view compressed, std::uint64_t decoded_bytes_max,
                                             decode_buffer& buffer);

/// Compresses `raw` as one block.
/// @param room work space: snappy needs more than the result takes.
/// @param out replaced.
void snappy_encode(bytes_view raw, decode_buffer& room, std::string& out);

/// Appends compressed `raw` to `out` without the size at a block's start. One size and any number of such outputs are a
/// block.
void snappy_append(bytes_view raw, decode_buffer& room, std::string& out);

// --- Elements of a snappy block, after its size.
// Source: google/snappy format_description.txt, section 2.

/// A literal, whose bytes follow its head, or a copy of bytes decoded before.
struct snappy_element {
    std::uint64_t size = 0;   ///< decoded bytes, at least 1
    std::uint64_t reach = 0;  ///< distance back to the copied bytes; 0: literal, or damaged
    unsigned head_bytes = 0;  ///< encoded bytes, without a literal's content
    bool is_literal = false;

    /// Encoded bytes.
    [[nodiscard]] std::uint64_t bytes() const noexcept { return is_literal ? head_bytes + size : head_bytes; }
};

/// @param rest remainder of the block, not empty. If the element does not fit in, its bytes() are more.
inline snappy_element read_snappy_element(bytes_view rest) noexcept {
    assert(!rest.empty());
    std::uint64_t head = 0;
    if (rest.size() >= sizeof head)
        std::memcpy(&head, rest.data(), sizeof head);
    else
        std::memcpy(&head, rest.data(), rest.size());
    const auto number = [head](unsigned bytes) { return head >> 8 & ((std::uint64_t{1} << 8 * bytes) - 1); };
    const std::uint64_t size = (head >> 2 & 63) + 1;
    switch (head & 3) {
        case 0: {
            constexpr unsigned short_max = 60;
            if (size <= short_max) return {.size = size, .head_bytes = 1, .is_literal = true};
            const auto size_bytes = static_cast<unsigned>(size - short_max);
            return {.size = number(size_bytes) + 1, .head_bytes = 1 + size_bytes, .is_literal = true};
        }
        case 1:
            return {.size = 4 + (head >> 2 & 7), .reach = (head >> 5 & 7) << 8 | number(1), .head_bytes = 2};
        case 2:
            return {.size = size, .reach = number(2), .head_bytes = 3};
        default:
            return {.size = size, .reach = number(4), .head_bytes = 5};
    }
}

// --- Decoding snappy elements in little more than half of libsnappy's time.

/// Accepts the same blocks as snappy::RawUncompress, with the same result. One exception: a literal of 2^32 bytes,
/// which libsnappy takes for an empty one, and stores in Go refuse.
///
/// A gate spends most of its time here and in the label walk. libsnappy selects between literal and copy without a
/// branch, so each element waits for the one before: some twenty cycles. In remote write, branches predict well: a
/// sample is nine elements, and the next sample is similar. On random elements this takes up to 1.4 times libsnappy's
/// time. bench/README.md has figures for both versions of libsnappy in Debian.
///
/// @param elements a block after its size.
/// @param out room for `size` bytes; undefined if the block is refused.
/// @param size declared by the block.
/// @return whether the block is valid and decodes to that size.
bool snappy_decode_elements(bytes_view elements, char* out, std::size_t size) noexcept;

// --- Zstd.

/// The size in bytes that the frames declare, without decoding. Frames that declare none count with their maximum, up
/// to `decoded_bytes_max`. A body may be several frames, as in zstd's own tools.
/// Errors: no bytes, no valid frame, more than `decoded_bytes_max`, more than wire_error.hpp allows for so few bytes,
/// or more than the blocks can hold.
result<std::size_t, wire_error> zstd_decoded_size(bytes_view compressed, std::uint64_t decoded_bytes_max);

/// Decodes and encodes zstd. Owns the library's large working memory, so there is one per worker.
/// Threads: one at a time.
class zstd_codec {
    std::unique_ptr<ZSTD_CCtx, std::size_t (*)(ZSTD_CCtx*)> encoder_{nullptr, ZSTD_freeCCtx};
    std::unique_ptr<ZSTD_DCtx, std::size_t (*)(ZSTD_DCtx*)> decoder_{nullptr, ZSTD_freeDCtx};

  public:
    /// @return a view into `buffer`, valid until its next use.
    result<bytes_view, wire_error> decode(bytes_view compressed, std::uint64_t decoded_bytes_max,
                                          decode_buffer& buffer);

    /// Compresses `raw` as one frame that declares its size.
    /// @param room work space for the worst case, far more than the result.
    /// @param out replaced.
    void encode(bytes_view raw, decode_buffer& room, std::string& out);
};

}  // namespace seriesgate
