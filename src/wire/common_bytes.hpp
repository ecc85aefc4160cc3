/// How far two texts are the same.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace seriesgate {

/// What common_bytes may read beyond `size`, to make do without a tail.
inline constexpr std::size_t common_bytes_room = 31;

/// @param size of both; common_bytes_room more bytes must be readable.
/// @return the number of equal bytes at the beginning of `a` and `b`, up to `size`.
inline std::size_t common_bytes(const char* a, const char* b, std::size_t size) noexcept {
#if defined(__SSE2__)
    const auto equal_at = [a, b](std::size_t offset) {
        const auto of_a = _mm_loadu_si128(reinterpret_cast<const __m128i*>(a + offset));
        const auto of_b = _mm_loadu_si128(reinterpret_cast<const __m128i*>(b + offset));
        return static_cast<std::uint32_t>(_mm_movemask_epi8(_mm_cmpeq_epi8(of_a, of_b)));
    };
    for (std::size_t at = 0; at < size; at += 32) {
        const std::uint32_t differ = ~(equal_at(at) | equal_at(at + 16) << 16);
        if (differ != 0) return std::min(size, at + static_cast<std::size_t>(std::countr_zero(differ)));
    }
    return size;
#else
    return static_cast<std::size_t>(std::mismatch(a, a + size, b).first - a);
#endif
}

}  // namespace seriesgate
