/// Prometheus series selectors: `up`, `{namespace=~".+"}`, `http_requests_total{job="a",code!~"2.."}`.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.hpp"
#include "series/label.hpp"
#include "series/label_matcher.hpp"

namespace seriesgate {

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
