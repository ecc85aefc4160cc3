/// One condition of a selector: a label name, an operator and a value or pattern.
#pragma once

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

// --- Regular expressions over a label value.

namespace re2 {
class RE2;
}

namespace seriesgate {

/// Matches whole label values like Prometheus: anchored, `.` also matches line ends, syntax and linear time of RE2.
/// Values are UTF-8; an invalid byte counts as U+FFFD, which `.` matches.
///
/// Patterns of literals, `literal.*` and `literal.+`, joined by `|`, use no RE2 (most patterns that people write) and
/// allocate nothing. Otherwise RE2's automaton takes at most `regex_memory_max` bytes. Copies share the compiled
/// pattern. Threads: any may call matches().
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

    static value_pattern literal(std::string value);

    /// @param memory_max bytes that RE2 may take.
    /// @return the pattern, or RE2's error message.
    static result<value_pattern, std::string> compile(const std::string& pattern, int memory_max = regex_memory_max);

    /// Throws std::bad_alloc if RE2 does.
    [[nodiscard]] bool matches(bytes_view value) const;

    [[nodiscard]] bool uses_regex() const noexcept { return regex_ != nullptr; }

    /// Length of RE2's program; 0 without it.
    [[nodiscard]] std::size_t instructions() const noexcept;

  private:
    bool read_simple(bytes_view pattern);
};

/// Bounds on configured selectors.
inline constexpr std::size_t selector_bytes_max = 16 * 1024;
inline constexpr std::size_t matchers_per_selector_max = 64;

enum class match_op : std::uint8_t { equal, not_equal, regex, not_regex };

/// One condition on one label. Made by parse_selector.
struct label_matcher {
    std::string name;
    match_op op = match_op::equal;
    std::string value;      ///< as written, with escapes resolved; or the pattern
    value_pattern pattern;  ///< `value`, compiled

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
    std::optional<std::size_t> offset;  ///< byte of the text, from 0; nothing: the whole selector
};

}  // namespace seriesgate
