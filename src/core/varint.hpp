/// Base-128 varints of the Protocol Buffers wire format.
/// Source: protobuf.dev/programming-guides/encoding, "Base 128 Varints".
#pragma once

#include <cstdint>
#include <string>

namespace seriesgate {

inline constexpr int varint_bytes_max = 10;  // ceil(64 / 7)

/// Reads one varint at `at`.
/// @return the byte after it, or nullptr if the input ends inside it, it has more than ten bytes, or its value does
///         not fit 64 bits (parsers disagree about those: some cut, some refuse). Over-long zero padding is fine.
inline const char* read_varint(const char* at, const char* end, std::uint64_t& value) noexcept {
    // One byte or two is what lengths have, nearly all.
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
    int size = 1;
    while (value >= 0x80) {
        value >>= 7;
        ++size;
    }
    return size;
}

/// Appends the shortest encoding.
inline void append_varint(std::string& out, std::uint64_t value) {
    while (value >= 0x80) {
        out.push_back(static_cast<char>(value | 0x80));
        value >>= 7;
    }
    out.push_back(static_cast<char>(value));
}

}  // namespace seriesgate
