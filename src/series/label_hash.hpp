/// What one label adds to the fingerprint of its series; see fingerprint.hpp. For those who walk labels.
#pragma once

#include <cstdint>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "core/bytes.hpp"

namespace seriesgate {

/// Of a name or a value. Nothing hashes to 0.
/// Source: github.com/Cyan4973/xxHash, XXH3_64bits.
inline std::uint64_t text_hash(bytes_view text) noexcept {
    return text.empty() ? 0 : XXH3_64bits(text.data(), text.size());
}

/// Of a label by the hashes of its name and its value; 0 for an empty value, which is as good as no label. A name and
/// a value do not change places.
/// Source: the 128-bit product folded into 64 bits, as within XXH3 (XXH3_mul128_fold64); the constant is XXH_PRIME64_1.
inline std::uint64_t label_hash(std::uint64_t name_hash, std::uint64_t value_hash) noexcept {
    __extension__ using uint128 = unsigned __int128;
    const uint128 product = uint128{name_hash ^ 0x9e3779b185ebca87u} * value_hash;
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

}  // namespace seriesgate
