/// zstd bodies, as vmagent sends them, behind bounds that are checked before anything is allocated.
/// Source: RFC 8878.
#pragma once

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

// --- Room for a decompressed body, used again from request to request.

/// Bytes that are not zeroed when the buffer grows. It keeps its memory until give_back (core/kept_memory.hpp) takes
/// it.
class decode_buffer {
    std::unique_ptr<char[]> bytes_;
    std::size_t capacity_ = 0;

  public:
    using value_type = char;

    /// @return room for `size` bytes, contents undefined: what was there is gone.
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

// --- The snappy block format, behind bounds that are checked before anything is allocated.
// Source: google/snappy format_description.txt.

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

// --- The elements that a snappy block consists of, behind its size.
// Source: google/snappy format_description.txt, section 2.

/// A literal, whose bytes stand behind its head, or a copy of bytes that have been decoded before.
struct snappy_element {
    std::uint64_t size = 0;   ///< bytes that it stands for, at least 1
    std::uint64_t reach = 0;  ///< how far back it copies from; 0 for a literal, and in a copy of a damaged block
    unsigned head_bytes = 0;  ///< what it takes itself, but for a literal's bytes
    bool is_literal = false;

    /// What it takes in the block.
    [[nodiscard]] std::uint64_t bytes() const noexcept { return is_literal ? head_bytes + size : head_bytes; }
};

/// @param rest what is left of the block, not empty. If the element does not fit into it, its bytes() are more.
inline snappy_element read_snappy_element(bytes_view rest) noexcept {
    assert(!rest.empty());
    std::uint64_t head = 0;
    if (rest.size() >= sizeof head) {
        std::memcpy(&head, rest.data(), sizeof head);
    } else {
        std::memcpy(&head, rest.data(), rest.size());
    }
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

// --- Decodes snappy's elements: libsnappy's task, in a little over half of its time.

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

struct ZSTD_CCtx_s;
struct ZSTD_DCtx_s;

namespace seriesgate {

/// The size in bytes that the frames say they have, without decoding them; for frames that do not say, as much as they
/// can hold, but at most `decoded_bytes_max`. As in zstd's own tools a body may be several frames.
/// Errors: no bytes, what is no frame, more than `decoded_bytes_max` or than bounds.hpp allows for so few bytes, or
/// more than blocks of this size can hold.
result<std::size_t, wire_error> zstd_decoded_size(bytes_view compressed, std::uint64_t decoded_bytes_max);

/// Decodes and encodes. Owns the library's working memory, which is large: one a worker.
/// Threads: one at a time.
class zstd_codec {
    struct release {
        void operator()(ZSTD_CCtx_s* context) const noexcept;
        void operator()(ZSTD_DCtx_s* context) const noexcept;
    };
    std::unique_ptr<ZSTD_CCtx_s, release> encoder_;
    std::unique_ptr<ZSTD_DCtx_s, release> decoder_;

  public:
    /// @return a view into `buffer`, valid until its next use.
    result<bytes_view, wire_error> decode(bytes_view compressed, std::uint64_t decoded_bytes_max,
                                          decode_buffer& buffer);

    /// Compresses `raw` as one frame that says its size.
    /// @param room to work in: for the worst case, which is far more than the result takes.
    /// @param out replaced.
    void encode(bytes_view raw, decode_buffer& room, std::string& out);
};

}  // namespace seriesgate
