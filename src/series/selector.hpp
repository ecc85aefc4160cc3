/// Prometheus series selectors: `up`, `{namespace=~".+"}`, `http_requests_total{job="a",code!~"2.."}`.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.hpp"
#include "series/label.hpp"
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

    friend std::strong_ordering operator<=>(const label_matcher& a, const label_matcher& b) noexcept;
    friend bool operator==(const label_matcher& a, const label_matcher& b) noexcept { return (a <=> b) == 0; }
};

struct selector_error {
    std::string message;                ///< one line of UTF-8, without control characters
    std::optional<std::size_t> offset;  ///< byte of the text, from 0; nothing if the selector as a whole is wrong
};

/// "expected a quoted string, found 'b' at byte 3"
std::string to_string(const selector_error& error);

/// A conjunction of matchers over a label set. Copies share the compiled patterns. Threads: any may call matches().
class selector {
    std::vector<label_matcher> matchers_;  // canonical: sorted, each once

  public:
    /// Matches every series: what an absent selector means. Cannot be written.
    selector() = default;

    [[nodiscard]] bool matches(std::span<const label_view> labels) const;

    /// The canonical text: the metric's name first, then the other matchers sorted. Parses to an equal selector.
    [[nodiscard]] std::string to_string() const;

    [[nodiscard]] std::span<const label_matcher> matchers() const noexcept { return matchers_; }

    /// The same matchers, in any order and spelling (not: the same set of series).
    friend bool operator==(const selector&, const selector&) = default;

    friend result<selector, selector_error> parse_selector(std::string_view text);
};

/// Reads a selector as PromQL writes it, quoted UTF-8 names included (`{"my.metric","my.label"="x"}`).
///
/// As in Prometheus at least one matcher must refuse the empty string; `{}` is mostly a slip, and every series is said
/// by leaving the selector out. Not taken over: comments (YAML folds lines, so the rest of the selector would
/// vanish). Taken though PromQL has other uses for the words: metrics named `on`, `bool`, `nan` and the like.
/// Source: prometheus/prometheus promql/parser/lex.go, generated_parser.y; docs "Querying basics".
result<selector, selector_error> parse_selector(std::string_view text);

}  // namespace seriesgate
