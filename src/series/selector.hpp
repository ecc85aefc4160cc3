/// Prometheus series selectors: `up`, `{namespace=~".+"}`, `http_requests_total{job="a",code!~"2.."}`.
#pragma once

#include <algorithm>
#include <array>
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

// --- What it costs to match selectors, so that who asks for much can be told so.

// Prices; as measured, they come to 0.5 to 0.9 ns a unit.
inline constexpr std::uint64_t label_work = 8;  // of a series, to find those that are asked for
inline constexpr std::uint64_t literal_work = 15;
inline constexpr std::uint64_t regex_work = 80;
inline constexpr std::uint64_t regex_byte_work = 2;
inline constexpr std::uint64_t repaired_byte_work = 30;  // of a value that is no UTF-8

/// Of a regular expression on a value.
inline std::uint64_t regex_work_on(bytes_view value) noexcept {
    return regex_work + (is_utf8(value) ? regex_byte_work : repaired_byte_work) * value.size();
}

/// What a question about series may cost: some 200 ms.
inline constexpr std::uint64_t question_work_max = 240'000'000;

/// Of matching a series with a selector that a stranger has written. An automaton that gets no memory does a step for
/// each instruction and byte: so it is priced.
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

// The letters and signs of selectors. Internal to series.

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

namespace seriesgate {

// --- The grammar of selectors. Internal to series: parse_selector is what others call.

/// The matchers of a selector, as they stand in the text. See parse_selector.
result<std::vector<label_matcher>, selector_error> parse_matchers(bytes_view text);

}  // namespace seriesgate
