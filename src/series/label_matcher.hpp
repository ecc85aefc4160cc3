/// One condition of a selector.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>

#include "core/bytes.hpp"
#include "series/value_pattern.hpp"

namespace seriesgate {

/// Bounds on what a configuration may ask for.
inline constexpr std::size_t selector_bytes_max = 16 * 1024;
inline constexpr std::size_t matchers_per_selector_max = 64;

enum class match_op : std::uint8_t { equal, not_equal, regex, not_regex };

/// One condition on one label. Made by parse_selector.
struct label_matcher {
    std::string name;
    match_op op = match_op::equal;
    std::string value;      ///< as written, escapes resolved; the pattern's source for the regular expressions
    value_pattern pattern;  ///< what `value` is compiled to

    /// @param found the label's value, empty if the series lacks it.
    [[nodiscard]] bool accepts(bytes_view found) const {
        const bool negated = op == match_op::not_equal || op == match_op::not_regex;
        return pattern.matches(found) != negated;
    }

    friend std::strong_ordering operator<=>(const label_matcher& a, const label_matcher& b) noexcept {
        return std::tie(a.name, a.op, a.value) <=> std::tie(b.name, b.op, b.value);
    }
    friend bool operator==(const label_matcher& a, const label_matcher& b) noexcept { return (a <=> b) == 0; }
};

struct selector_error {
    std::string message;                ///< one line of UTF-8, without control characters
    std::optional<std::size_t> offset;  ///< byte of the text, from 0; nothing if the selector as a whole is wrong
};

}  // namespace seriesgate
