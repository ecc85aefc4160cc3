/// One condition of a selector.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "core/bytes.hpp"
#include "core/result.hpp"

// A regular expression over one label value.

namespace re2 {
class RE2;
}

namespace seriesgate {

/// Matches whole label values as the regular expressions of Prometheus do: anchored at both ends, `.` matches a line
/// end too, syntax and linear time of RE2. Values are UTF-8; a byte that is not counts as one U+FFFD, which `.`
/// matches.
///
/// Patterns made only of literals, `literal.*` and `literal.+`, joined by `|`, do without RE2 (nearly all that people
/// write) and allocate nothing. Otherwise RE2 keeps at most `regex_memory_max` bytes for its automaton.
/// Copies share what was compiled. Threads: any may call matches().
/// Source: prometheus/prometheus model/labels/regexp.go, FastRegexMatcher.
class value_pattern {
    struct prefix {
        std::string text;
        bool more;  ///< `.+`: at least one character follows
    };

    std::vector<std::string> literals_;  // sorted
    std::vector<prefix> prefixes_;
    std::shared_ptr<const re2::RE2> regex_;  // if set, it alone decides

  public:
    static constexpr int regex_memory_max = 1 << 20;

    /// Matches nothing.
    value_pattern() = default;

    /// Matches exactly this value.
    static value_pattern literal(std::string value);

    /// @return the pattern, or RE2's words on what is wrong with it.
    static result<value_pattern, std::string> compile(const std::string& pattern);

    /// Throws nothing of its own (RE2 allocates, so std::bad_alloc is possible).
    [[nodiscard]] bool matches(bytes_view value) const;

    /// Whether RE2 is used.
    [[nodiscard]] bool uses_regex() const noexcept { return regex_ != nullptr; }

    /// How long RE2's program is; 0 without it.
    [[nodiscard]] std::size_t instructions() const noexcept;

  private:
    bool read_simple(bytes_view pattern);
};

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
