/// Byte views and ranges, varints, reusable buffers and large zeroed memory.
#pragma once

#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace seriesgate {

/// Bytes of a message, not text; the owner of the buffer outlives the view.
using bytes_view = std::string_view;

/// A part of a body: offset and length in bytes. 32 bits suffice, because decompression enforces Protocol Buffers'
/// limit of 2 GiB.
struct byte_range {
    std::uint32_t offset = 0;
    std::uint32_t size = 0;

    [[nodiscard]] std::uint32_t end() const noexcept { return offset + size; }
    friend bool operator==(const byte_range&, const byte_range&) = default;
};

/// The bytes of `body` in `range`. Precondition: the range lies inside the body.
inline bytes_view slice(bytes_view body, byte_range range) noexcept {
    assert(range.offset <= body.size() && range.size <= body.size() - range.offset);
    return {body.data() + range.offset, range.size};
}

/// The largest decoded body, in bytes.
inline constexpr std::uint64_t decoded_bytes_limit = (std::uint64_t{1} << 31) - 1;

__extension__ using uint128 = unsigned __int128;

// --- Base-128 varints of Protocol Buffers.
// Source: protobuf.dev/programming-guides/encoding, "Base 128 Varints".

inline constexpr int varint_bytes_max = 10;  // ceil(64 / 7)

/// Reads one varint at `at`.
/// @return the byte after it. nullptr if the input ends inside it, or it has more than ten bytes, or its value exceeds
/// 64 bits: parsers disagree about such values. Zero padding up to ten bytes is valid.
inline const char* read_varint(const char* at, const char* end, std::uint64_t& value) noexcept {
    // Lengths mostly have one or two bytes.
    if (end - at >= 2) [[likely]] {
        const auto first = static_cast<unsigned char>(at[0]);
        if (first < 0x80) {
            value = first;
            return at + 1;
        }
        const auto second = static_cast<unsigned char>(at[1]);
        if (second < 0x80) {
            value = (first & 0x7fu) | unsigned{second} << 7;
            return at + 2;
        }
    }
    std::uint64_t sum = 0;
    for (unsigned shift = 0; at != end && shift < 7 * varint_bytes_max; shift += 7) {
        const auto byte = static_cast<unsigned char>(*at++);
        if (shift == 63 && byte > 1) return nullptr;
        sum |= std::uint64_t{byte & 0x7fu} << shift;
        if (byte < 0x80) {
            value = sum;
            return at;
        }
    }
    return nullptr;
}

/// Number of bytes of the shortest encoding.
inline int varint_size(std::uint64_t value) noexcept {
    return (static_cast<int>(std::bit_width(value | 1)) + 6) / 7;
}

/// Appends the shortest encoding.
inline void append_varint(std::string& out, std::uint64_t value) {
    while (value >= 0x80) {
        out.push_back(static_cast<char>(value | 0x80));
        value >>= 7;
    }
    out.push_back(static_cast<char>(value));
}

// --- Buffers kept between requests.

/// Largest buffer kept: enough for ten thousand series and their symbols.
inline constexpr std::size_t kept_bytes_max = 4u << 20;

/// Memory of a vector or string, in bytes.
template <class Container>
std::size_t held_bytes(const Container& of) noexcept {
    return of.capacity() * sizeof(typename Container::value_type);
}

/// Frees a buffer larger than `bytes_max`, and loses its content; keeps smaller ones.
template <class Container>
void give_back(Container& of, std::size_t bytes_max = kept_bytes_max) {
    if (held_bytes(of) > bytes_max) Container{}.swap(of);
}

/// The same with several.
template <class... Containers>
void give_back_all(Containers&... each) {
    (give_back(each), ...);
}

// --- Large zeroed memory.

/// Memory in huge pages, if the system has them. A filter of a hundred megabytes is accessed randomly; with pages of 4
/// KiB every access would also miss the page tables' cache. Fresh pages are zero, so nothing is zeroed before a load.
class page_memory {
    struct release {
        std::size_t size;
        void operator()(void* data) const noexcept;
    };
    std::unique_ptr<void, release> data_;

  public:
    /// Reserves `size` zero bytes; touching a page allocates it. Throws std::bad_alloc.
    explicit page_memory(std::size_t size);

    static constexpr std::size_t huge_page_bytes = std::size_t{2} << 20;

    /// Allocates all pages now, so that no request waits for one.
    void populate() { populate(data(), data_.get_deleter().size); }
    /// The same with a part of them.
    static void populate(void* from, std::size_t size);

    [[nodiscard]] void* data() const noexcept { return data_.get(); }
};

}  // namespace seriesgate
