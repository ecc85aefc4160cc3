/// What stops an explosion and takes nothing else: texts to paste.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cardinality/finding.hpp"

namespace seriesgate {

// --- What texts are written with, as a regular expression: as long as they were, of the characters that they had.

/// For RE2, what it means is what it says.
std::string escaped_for_regex(std::string_view text);

/// `[0-9a-f]{4,32}`. Empty if they have other characters than ASCII's letters, digits, `-`, `_`, `.`, `:` and `/`.
/// @param texts at least one.
std::string characters_of(const std::vector<std::string_view>& texts);

/// `user-[0-9]{4,7}`: the same, and what all begin and end with stands as it is. Empty, too, if fewer than four
/// characters vary: those would be others' values, too.
/// @param texts at least two that differ.
std::string spelling_of(const std::vector<std::string_view>& texts);

/// YAML, with lines that end: items of lists, to be pasted below the key of the list.
struct remedy {
    /// For the senders' configuration, below `metric_relabel_configs:` or `write_relabel_configs:` of Prometheus;
    /// vmagent has the same form. Empty where no rule takes all that explodes and nothing that was known before.
    /// Source: prometheus.io/docs/prometheus/latest/configuration, relabel_config.
    std::string relabel{};
    /// For this gate's `limits:`. It admits more of such series than there were before. Empty where a limit of its own
    /// is no help.
    std::string limit{};
    /// What people have to know: what it was tried on; or why there is no rule, and what they have to decide.
    std::string note{};
    std::uint64_t would_take = 0;  ///< of the known series that are remembered, the best rule there is
    std::uint64_t remembered = 0;  ///< known series that it was tried on
    std::uint64_t known = 0;       ///< for which they stand, about
};
remedy remedy_of(const finding& found, const sampled& all);

}  // namespace seriesgate
