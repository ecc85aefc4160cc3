/// Characters that do something instead of being seen.
#pragma once

#include <cassert>
#include <string>
#include <string_view>

namespace seriesgate {

/// The code point of a character of at most three bytes.
constexpr unsigned code_of(std::string_view character) noexcept {
    assert(!character.empty() && character.size() <= 3);
    const auto byte = [&](std::size_t at) { return static_cast<unsigned>(static_cast<unsigned char>(character[at])); };
    if (character.size() == 1) return byte(0);
    if (character.size() == 2) return ((byte(0) & 0x1f) << 6) | (byte(1) & 0x3f);
    return ((byte(0) & 0x0f) << 12) | ((byte(1) & 0x3f) << 6) | (byte(2) & 0x3f);
}

/// Whether a terminal may take the character for an order (C0, DEL, C1), a reader for the end of a line (the separators
/// of lines and paragraphs), or either shows what stands around it in another order (marks of direction).
/// @param character one of UTF-8, whole.
/// Source: Unicode 15, section 23.2 and UAX #9, section 2; CVE-2021-42574.
constexpr bool is_control_character(std::string_view character) noexcept {
    if (character.size() > 3) return false;
    const unsigned code = code_of(character);
    const auto within = [code](unsigned first, unsigned last) { return code >= first && code <= last; };
    return code < 0x20 || within(0x7f, 0x9f) || code == 0x061c || within(0x200e, 0x200f) || within(0x2028, 0x202e) ||
           within(0x2066, 0x2069);
}

/// A character or a byte that is none, as `\x1b` if it is one byte, else as `\u202e`.
inline void append_code(std::string& out, std::string_view character) {
    const bool is_byte = character.size() == 1;
    const unsigned number = is_byte ? static_cast<unsigned char>(character.front()) : code_of(character);
    out += is_byte ? "\\x" : "\\u";
    for (int shift = is_byte ? 4 : 12; shift >= 0; shift -= 4) out += "0123456789abcdef"[(number >> shift) & 15];
}

}  // namespace seriesgate
