/// A keyed hash of a text, whoever chooses it.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "core/bytes.hpp"

namespace seriesgate {

/// Of what is called secret here: that of a hash_key.
inline constexpr std::size_t text_secret_bytes = 192;

/// Up to here XXH3 multiplies 64 by 64 bits. Beyond, it has only products of 32 by 32, and adds them up: whoever finds
/// two texts that meet, which takes 2^32 tries, has found how to make as many as they like meet under this secret.
inline constexpr std::size_t text_piece_bytes = 240;

/// @param text of 1 to text_piece_bytes.
/// Source: github.com/Cyan4973/xxHash, XXH3_64bits_withSecret. (Not withSecretandSeed: that one leaves the secret out
/// of texts up to 240 bytes.)
inline std::uint64_t piece_hash(bytes_view text, const unsigned char* secret) noexcept {
    assert(!text.empty() && text.size() <= text_piece_bytes);
    return std::max<std::uint64_t>(XXH3_64bits_withSecret(text.data(), text.size(), secret, text_secret_bytes), 1);
}

/// Of a longer text: that of its pieces, one after the other, so that who has two pieces of one hash has no more than
/// that. @param text of more than text_piece_bytes.
std::uint64_t long_text_hash(bytes_view text, const unsigned char* secret) noexcept;

/// Of a name or a value, or of many labels. 0 is kept for the empty text.
/// @param secret of a hash_key.
inline std::uint64_t text_hash(bytes_view text, const unsigned char* secret) noexcept {
    assert(secret != nullptr);
    if (text.empty()) return 0;
    if (text.size() > text_piece_bytes) [[unlikely]]
        return long_text_hash(text, secret);
    return piece_hash(text, secret);
}

}  // namespace seriesgate
