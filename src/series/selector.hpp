/// Prometheus series selectors: `up`, `{namespace=~".+"}`, `http_requests_total{job="a",code!~"2.."}`.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/bytes.hpp"
#include "core/result.hpp"
#include "core/text.hpp"
#include "series/label.hpp"
#include "series/label_matcher.hpp"

namespace seriesgate {

/// "expected a quoted string, found 'b' at byte 3"
std::string to_string(const selector_error& error);

/// How much a selector may cost to read. RE2 takes up to 20 ms to compile one regular expression of 1 MiB.
struct selector_bounds {
    std::size_t regexes_max = matchers_per_selector_max;  ///< that need RE2
    int regex_memory_max = value_pattern::regex_memory_max;
};

/// A conjunction of matchers over a label set. Copies share compiled patterns. Threads: any may call matches().
class selector {
    std::vector<label_matcher> matchers_;  // canonical: sorted, without duplicates

  public:
    /// Matches every series, like an absent selector. It has no text form.
    selector() = default;

    [[nodiscard]] bool matches(std::span<const label_view> labels) const;

    /// The canonical text: metric name first, then the other matchers sorted. Parses to an equal selector.
    [[nodiscard]] std::string to_string() const;

    [[nodiscard]] std::span<const label_matcher> matchers() const noexcept { return matchers_; }

    /// Equal matchers in any order and spelling (not: the same set of series).
    friend bool operator==(const selector&, const selector&) = default;

    friend result<selector, selector_error> parse_selector(std::string_view text, const selector_bounds& bounds);
};

/// Parses a selector in PromQL's syntax, with quoted UTF-8 names (`{"my.metric","my.label"="x"}`).
///
/// As in Prometheus, at least one matcher must refuse the empty string: `{}` is mostly a mistake, and leaving the
/// selector out selects every series. Comments are not supported, because YAML folds lines and the rest would be lost.
/// Metrics named `on`, `bool`, `nan` and the like are supported, although PromQL uses these words otherwise.
/// Source: prometheus/prometheus promql/parser/lex.go, generated_parser.y; docs "Querying basics".
result<selector, selector_error> parse_selector(std::string_view text, const selector_bounds& bounds = {});

// --- The cost of matching selectors.

// Prices; a unit was measured as 0.5 to 0.9 ns.
inline constexpr std::uint64_t label_work = 8;  // per label of a series, to find the wanted ones
inline constexpr std::uint64_t literal_work = 15;
inline constexpr std::uint64_t regex_work = 80;
inline constexpr std::uint64_t regex_byte_work = 2;
inline constexpr std::uint64_t repaired_byte_work = 30;  // per byte of a value with invalid UTF-8

/// The cost of a regular expression on a value.
inline std::uint64_t regex_work_on(bytes_view value) noexcept {
    return regex_work + (is_utf8(value) ? regex_byte_work : repaired_byte_work) * value.size();
}

/// Largest cost of a question about series: some 200 ms.
inline constexpr std::uint64_t question_work_max = 240'000'000;

/// The cost of matching a series with a selector from outside. Without memory, an automaton takes a step for each
/// instruction and byte, so that is the price.
inline std::uint64_t question_work(const selector& asked, std::span<const label_view> labels) noexcept {
    std::uint64_t work = label_work * labels.size() * asked.matchers().size();
    for (const label_matcher& each : asked.matchers()) {
        const bytes_view value = label_value(labels, each.name);
        work += literal_work + each.value.size() / 64;
        if (each.pattern.uses_regex()) work += regex_work_on(value) + each.pattern.instructions() * value.size();
    }
    return work;
}

}  // namespace seriesgate
