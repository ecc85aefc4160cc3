/// The letters and signs of selectors. Internal to series.
#pragma once

#include <algorithm>
#include <array>
#include <string>

#include "core/bytes.hpp"

namespace seriesgate::selector_words {

inline constexpr bytes_view metric_name = "__name__";
/// By match_op.
inline constexpr std::array<bytes_view, 4> op_texts{"=", "!=", "=~", "!~"};

constexpr bool is_name_start(char c) {
    return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

constexpr bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

constexpr bool is_control(char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == '\x7f';
}

enum class name_kind { label, metric };

/// A letter of a name that needs no quotes. Only metrics have colons.
constexpr bool is_name_letter(char c, name_kind kind) {
    return is_name_start(c) || is_digit(c) || (kind == name_kind::metric && c == ':');
}

/// Whether it can be written without quotes.
constexpr bool is_plain_name(bytes_view name, name_kind kind) {
    const auto fits = [kind](char c) { return is_name_letter(c, kind); };
    return !name.empty() && !is_digit(name[0]) && std::ranges::all_of(name, fits);
}

inline std::string hex(char byte) {
    constexpr bytes_view digits = "0123456789abcdef";
    const auto value = static_cast<unsigned char>(byte);
    return {digits[value >> 4], digits[value & 15]};
}

}  // namespace seriesgate::selector_words
