/// UTF-8 as Go decodes it: what is not valid is taken byte by byte, each for one U+FFFD.
#pragma once

#include <cassert>
#include <cstdint>
#include <cstring>
#include <string>

#include "core/bytes.hpp"

namespace seriesgate {

/// The length in bytes of the character at the start of `text`; 0 if there is none: a stray or missing continuation,
/// more bytes than needed, a surrogate, beyond U+10FFFF, or an empty text.
/// Source: RFC 3629 section 4.
constexpr std::size_t utf8_size(bytes_view text) noexcept {
    const auto within = [&](std::size_t at, unsigned low, unsigned high) {
        return at < text.size() && static_cast<unsigned char>(text[at]) >= low &&
               static_cast<unsigned char>(text[at]) <= high;
    };
    const auto follows = [&](std::size_t at) { return within(at, 0x80, 0xbf); };
    if (within(0, 0x00, 0x7f)) return 1;
    if (within(0, 0xc2, 0xdf)) return follows(1) ? 2 : 0;
    if (within(0, 0xe0, 0xef)) {
        const unsigned low = text[0] == '\xe0' ? 0xa0 : 0x80;
        const unsigned high = text[0] == '\xed' ? 0x9f : 0xbf;
        return within(1, low, high) && follows(2) ? 3 : 0;
    }
    if (within(0, 0xf0, 0xf4)) {
        const unsigned low = text[0] == '\xf0' ? 0x90 : 0x80;
        const unsigned high = text[0] == '\xf4' ? 0x8f : 0xbf;
        return within(1, low, high) && follows(2) && follows(3) ? 4 : 0;
    }
    return 0;
}

inline bool is_utf8(bytes_view text) noexcept {
    while (!text.empty()) {
        std::uint64_t eight = 0;
        if (text.size() >= sizeof eight) {
            std::memcpy(&eight, text.data(), sizeof eight);
            if ((eight & 0x8080808080808080) == 0) {
                text.remove_prefix(sizeof eight);
                continue;
            }
        }
        const std::size_t size = utf8_size(text);
        if (size == 0) return false;
        assert(size <= text.size());
        text.remove_prefix(size);
    }
    return true;
}

/// `text` with every byte that belongs to no character replaced by U+FFFD.
inline std::string repaired_utf8(bytes_view text) {
    std::string out;
    while (!text.empty()) {
        const std::size_t size = utf8_size(text);
        out.append(size == 0 ? bytes_view{"\xef\xbf\xbd"} : text.substr(0, size));
        text.remove_prefix(size == 0 ? 1 : size);
    }
    return out;
}

/// Precondition: `character` is a code point and no surrogate.
inline void append_utf8(std::string& out, char32_t character) {
    assert(character <= 0x10ffff && (character < 0xd800 || character > 0xdfff));
    const auto put = [&](char32_t byte) { out += static_cast<char>(static_cast<unsigned char>(byte)); };
    const auto put_rest = [&](int shift) { put(0x80 | ((character >> shift) & 0x3f)); };
    if (character < 0x80) {
        put(character);
    } else if (character < 0x800) {
        put(0xc0 | (character >> 6));
        put_rest(0);
    } else if (character < 0x10000) {
        put(0xe0 | (character >> 12));
        put_rest(6);
        put_rest(0);
    } else {
        put(0xf0 | (character >> 18));
        put_rest(12);
        put_rest(6);
        put_rest(0);
    }
}

}  // namespace seriesgate
