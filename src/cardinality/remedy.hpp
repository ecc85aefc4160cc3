/// Writes rules that stop an explosion without hitting healthy series, as text to paste.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cardinality/findings.hpp"

namespace seriesgate {

// --- Regular expressions from examples: same length, same characters.

/// For example `[0-9a-f]{4,32}`. Empty if a text has characters other than ASCII letters, digits, `-`, `_`, `.`, `:`,
/// `/`.
/// @param texts at least one.
std::string characters_of(const std::vector<std::string_view>& texts);

/// For example `user-[0-9]{4,7}`: keeps the common prefix and suffix. Also empty if fewer than four characters vary:
/// such an expression would match other values.
/// @param texts at least two that differ.
std::string spelling_of(const std::vector<std::string_view>& texts);

/// Texts are YAML list items with line ends, to be pasted below the key of the list.
struct remedy {
    /// For `metric_relabel_configs:` or `write_relabel_configs:` of Prometheus; vmagent has the same form. Empty if no
    /// rule matches all exploding series and no known ones.
    /// Source: prometheus.io/docs/prometheus/latest/configuration, relabel_config.
    std::string relabel{};
    /// For this gate's `limits:`. Admits more such series than there were before. Empty if a limit would not help.
    std::string limit{};
    /// For people: what the rule was tried on; or why there is none, and the decision left to them.
    std::string note{};
    std::uint64_t would_take = 0;  ///< remembered series that the best rule would match
    std::uint64_t remembered = 0;  ///< known series that it was tried on
    std::uint64_t known = 0;       ///< known series that are no part of it, about
};
remedy remedy_of(const finding& found, const sampled& all);

}  // namespace seriesgate
