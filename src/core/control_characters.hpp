/// Characters that do something instead of being seen.
#pragma once

#include <array>
#include <cassert>
#include <string>
#include <string_view>

namespace seriesgate {

/// The code point of a character of UTF-8, whole.
constexpr char32_t code_of(std::string_view character) noexcept {
    assert(!character.empty() && character.size() <= 4);
    constexpr std::array<unsigned, 5> first_bits{0, 0xff, 0x1f, 0x0f, 0x07};
    char32_t code = static_cast<unsigned char>(character[0]) & first_bits[character.size()];
    for (const char each : character.substr(1)) code = code << 6 | (static_cast<unsigned char>(each) & 0x3fU);
    return code;
}

/// Whether a terminal may take the character for an order (C0, DEL, C1), a reader for the end of a line (the separators
/// of lines and paragraphs), or either shows what stands around it in another order (marks of direction).
/// @param character one of UTF-8, whole.
/// Source: Unicode 15, section 23.2 and UAX #9, section 2; CVE-2021-42574.
constexpr bool is_control_character(std::string_view character) noexcept {
    const char32_t code = code_of(character);
    const auto within = [code](char32_t first, char32_t last) { return code >= first && code <= last; };
    return code < 0x20 || within(0x7f, 0x9f) || code == 0x061c || within(0x200e, 0x200f) || within(0x2028, 0x202e) ||
           within(0x2066, 0x2069);
}

/// Whether two names that differ in such a character alone look the same: it takes no room, or is filler or a tag.
/// @param character one of UTF-8, whole. Source: Unicode 15, Default_Ignorable_Code_Point.
constexpr bool is_invisible(std::string_view character) noexcept {
    const char32_t code = code_of(character);
    const auto within = [code](char32_t first, char32_t last) { return code >= first && code <= last; };
    return code == 0xad || code == 0x34f || within(0x115f, 0x1160) || within(0x17b4, 0x17b5) ||
           within(0x180b, 0x180f) || within(0x200b, 0x200f) || within(0x2060, 0x206f) || code == 0x3164 ||
           within(0xfe00, 0xfe0f) || code == 0xfeff || code == 0xffa0 || within(0xfff0, 0xfff8) ||
           within(0x1bca0, 0x1bca3) || within(0x1d173, 0x1d17a) || within(0xe0000, 0xe0fff);
}

/// Whether people see what it is.
constexpr bool is_seen(std::string_view character) noexcept {
    return !is_control_character(character) && !is_invisible(character);
}

/// A character or a byte that is none: `\x1b` if it is one byte, else `\u202e`, `\U000e0041` beyond four digits.
inline void append_code(std::string& out, std::string_view character) {
    const bool is_byte = character.size() == 1;
    const char32_t code = is_byte ? static_cast<unsigned char>(character.front()) : code_of(character);
    const int digits = is_byte ? 2 : code <= 0xffff ? 4 : 8;
    out += is_byte ? "\\x" : digits == 4 ? "\\u" : "\\U";
    for (int shift = 4 * (digits - 1); shift >= 0; shift -= 4) out += "0123456789abcdef"[(code >> shift) & 15];
}

}  // namespace seriesgate
