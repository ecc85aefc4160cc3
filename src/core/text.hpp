/// Text functions: ASCII case, lists, control characters, UTF-8, numbers and durations for people.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include "core/bytes.hpp"

namespace seriesgate {

// --- ASCII, independent of the locale.

constexpr char lower(char letter) noexcept {
    return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
}

constexpr bool is_digit(char c) noexcept {
    return c >= '0' && c <= '9';
}

constexpr bool is_letter(char c) noexcept {
    return lower(c) >= 'a' && lower(c) <= 'z';
}

constexpr bool is_identifier_character(char c) noexcept {
    return is_letter(c) || is_digit(c) || c == '_';
}

/// A name that every Prometheus and every sender supports: letters, digits and `_`, and no digit first.
constexpr bool is_identifier(std::string_view text) noexcept {
    return !text.empty() && !is_digit(text.front()) && std::ranges::all_of(text, is_identifier_character);
}

/// @return nothing unless the whole text is a number that the type can hold.
template <class Number>
std::optional<Number> whole_number(std::string_view text, int base = 10) noexcept {
    Number number = 0;
    const char* const end = text.data() + text.size();
    const auto [stopped, error] = std::from_chars(text.data(), end, number, base);
    return error == std::errc{} && stopped == end ? std::optional{number} : std::nullopt;
}

/// Beast's iequals of Boost 1.81 reads one byte past both texts if they differ in case (fixed in 1.82).
constexpr bool equal_ignoring_case(std::string_view one, std::string_view other) noexcept {
    return std::ranges::equal(one, other, {}, lower, lower);
}

/// Removes blanks and tabs at both ends (RFC 9110, section 5.6.3).
constexpr std::string_view trimmed(std::string_view text) noexcept {
    const auto first = text.find_first_not_of(" \t");
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

/// Calls `visit` with each non-empty item between commas, in one pass. Source: RFC 9110, section 5.6.1.
/// @param visit returns whether to go on.
template <class Visit>
void for_each_item(std::string_view list, Visit visit) {
    for (;;) {
        const auto comma = list.find(',');
        const std::string_view item = trimmed(list.substr(0, comma));
        if (!item.empty() && !visit(item)) return;
        if (comma == std::string_view::npos) return;
        list.remove_prefix(comma + 1);
    }
}

// --- Control and invisible characters.

/// The code point of a whole UTF-8 character.
constexpr char32_t code_of(std::string_view character) noexcept {
    assert(!character.empty() && character.size() <= 4);
    constexpr std::array<unsigned, 5> first_bits{0, 0xff, 0x1f, 0x0f, 0x07};
    char32_t code = static_cast<unsigned char>(character[0]) & first_bits[character.size()];
    for (const char each : character.substr(1)) code = code << 6 | (static_cast<unsigned char>(each) & 0x3fU);
    return code;
}

/// Whether the character controls a terminal (C0, DEL, C1), ends a line (line and paragraph separators), or reorders
/// its surroundings (marks of direction).
/// @param character a whole UTF-8 character.
/// Source: Unicode 15, section 23.2 and UAX #9, section 2; CVE-2021-42574.
constexpr bool is_control_character(std::string_view character) noexcept {
    const char32_t code = code_of(character);
    const auto within = [code](char32_t first, char32_t last) { return code >= first && code <= last; };
    return code < 0x20 || within(0x7f, 0x9f) || code == 0x061c || within(0x200e, 0x200f) || within(0x2028, 0x202e) ||
           within(0x2066, 0x2069);
}

/// Whether the character is invisible, so that names differing only in it look equal: it has no width, or is filler or
/// a tag.
/// @param character a whole UTF-8 character. Source: Unicode 15, Default_Ignorable_Code_Point.
constexpr bool is_invisible(std::string_view character) noexcept {
    const char32_t code = code_of(character);
    const auto within = [code](char32_t first, char32_t last) { return code >= first && code <= last; };
    return code == 0xad || code == 0x34f || within(0x115f, 0x1160) || within(0x17b4, 0x17b5) ||
           within(0x180b, 0x180f) || within(0x200b, 0x200f) || within(0x2060, 0x206f) || code == 0x3164 ||
           within(0xfe00, 0xfe0f) || code == 0xfeff || code == 0xffa0 || within(0xfff0, 0xfff8) ||
           within(0x1bca0, 0x1bca3) || within(0x1d173, 0x1d17a) || within(0xe0000, 0xe0fff);
}

constexpr bool is_seen(std::string_view character) noexcept {
    return !is_control_character(character) && !is_invisible(character);
}

/// Escapes a character, or an invalid byte: `\x1b` for one byte, else `\u202e`, or `\U000e0041` beyond four digits.
inline void append_code(std::string& out, std::string_view character) {
    const bool is_byte = character.size() == 1;
    const char32_t code = is_byte ? static_cast<unsigned char>(character.front()) : code_of(character);
    const int digits = is_byte ? 2 : code <= 0xffff ? 4 : 8;
    out += is_byte ? "\\x" : digits == 4 ? "\\u" : "\\U";
    for (int shift = 4 * (digits - 1); shift >= 0; shift -= 4) out += "0123456789abcdef"[(code >> shift) & 15];
}

/// In double quotes, with a backslash before each quote and backslash.
inline std::string in_double_quotes(std::string_view text) {
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') out += '\\';
        out += c;
    }
    return out + "\"";
}

// --- UTF-8, decoded as in Go: every invalid byte becomes one U+FFFD.

/// Whether a byte continues a character: no text is cut before it.
constexpr bool continues_character(char byte) noexcept {
    return (static_cast<unsigned char>(byte) & 0xc0) == 0x80;
}

/// The length in bytes of the character at the start of `text`. 0 if it is invalid: a stray or missing continuation, an
/// overlong form, a surrogate, beyond U+10FFFF, or an empty text.
/// Source: RFC 3629 section 4.
constexpr std::size_t utf8_size(bytes_view text) noexcept {
    if (text.empty()) return 0;
    const auto size = static_cast<std::size_t>(std::countl_one(static_cast<unsigned char>(text[0])));
    if (size == 0) return 1;
    if (size == 1 || size > 4 || size > text.size()) return 0;
    const bytes_view character = text.substr(0, size);
    constexpr std::array<char32_t, 5> first_codes{0, 0, 0x80, 0x800, 0x10000};
    const char32_t code = code_of(character);
    const bool is_valid = code >= first_codes[size] && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
    return is_valid && std::ranges::all_of(character.substr(1), continues_character) ? size : 0;
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

/// Replaces every byte outside a character by U+FFFD.
inline std::string repaired_utf8(bytes_view text) {
    std::string out;
    while (!text.empty()) {
        const std::size_t size = utf8_size(text);
        out.append(size == 0 ? bytes_view{"\xef\xbf\xbd"} : text.substr(0, size));
        text.remove_prefix(size == 0 ? 1 : size);
    }
    return out;
}

/// Replaces each control character by a question mark.
std::string one_line(std::string_view text);

/// Precondition: `character` is a code point and no surrogate.
inline void append_utf8(std::string& out, char32_t character) {
    assert(character <= 0x10ffff && (character < 0xd800 || character > 0xdfff));
    constexpr std::array<char32_t, 4> marks{0, 0xc0, 0xe0, 0xf0};  // of the first byte
    std::size_t left = character < 0x80 ? 0 : character < 0x800 ? 1 : character < 0x10000 ? 2 : 3;
    const auto put = [&out](char32_t byte) { out += static_cast<char>(static_cast<unsigned char>(byte)); };
    put(marks[left] | character >> 6 * left);
    while (left-- > 0) put(0x80 | (character >> 6 * left & 0x3f));
}

/// Lengths in bytes of what stays of both ends of a text.
struct kept_ends {
    std::size_t head;
    std::size_t tail;
};

/// Replaces the middle of a longer text by the mark. Cuts no valid character.
std::string without_middle(std::string_view text, kept_ends bytes, std::string_view mark);

// --- Numbers for people.

/// "1 sample", "2 samples".
inline std::string counted(std::uint64_t count, std::string_view noun) {
    return std::to_string(count).append(" ").append(noun).append(count == 1 ? "" : "s");
}

/// 99812 as `99,812`.
std::string grouped(std::uint64_t number);

/// A count as `99,812`. An estimate shows only significant digits, so that estimates of the same number look equal:
/// `about 99,000`, `about 104,000`.
std::string count_text(std::uint64_t count, bool is_exact);

/// At most two units: `1 d 4 h`, `4 min`, `5 s`.
std::string duration_text(std::chrono::seconds duration);

}  // namespace seriesgate
