/// A finding: one explosion of series, with label, metrics, tenant, sender and time; and its sampled series.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cardinality/cardinality_tables.hpp"
#include "cardinality/series_sample.hpp"
#include "limit/window.hpp"

namespace seriesgate {

/// The kind of an explosion, or another reason for refusals.
enum class explosion : std::uint8_t {
    label,         ///< a label of some metrics
    buckets,       ///< `le` of a histogram with too many buckets
    metric_names,  ///< metric names that contain the value of a label
    tenants,       ///< too many tenants
    targets,       ///< no explosion: new targets exceed a limit
    growth,        ///< no explosion: more series than a limit allows
};

struct finding {
    explosion what = explosion::label;
    std::string tenant{};
    std::string label{};  ///< `__name__` for metric names; the label with the most values
    /// All labels with about as many values, `label` first.
    std::vector<std::string> labels{};
    /// By number of series; a pattern for metric names (name_pattern()); empty: many metrics.
    std::vector<std::string> metrics{};
    std::uint64_t series = 0;   ///< of these metrics: new or refused
    std::uint64_t refused = 0;  ///< of them
    bool is_exact = true;       ///< both numbers are exact
    value_count values{};
    std::string job{};              ///< the job of at least half of them; else empty
    std::string sender{}, agent{};  ///< the same
    time_point since{};
    time_point last{};  ///< arrival of the last such series
    /// When the explosion ended, see mark_over().
    std::optional<time_point> over_since{};
};

/// One sentence for people, without terminal control characters.
std::string to_text(const finding& found);

// --- Patterns of metric names that contain a label's value.

/// Replaces digits, hashes and UUIDs by `#`: `user_17_requests` and `user_4_requests` become equal.
std::string name_pattern(std::string_view metric);

/// @param pattern of patterns_of().
bool matches_pattern(std::string_view metric, std::string_view pattern);

/// Patterns that many names share: by name_pattern(), or by a word unique to each name (`shop_*_total` for
/// `shop_qkxzv_total` and so on).
std::vector<std::string> patterns_of(const std::vector<std::string_view>& names);

/// @return the first of `patterns` that matches the name, or null.
const std::string* pattern_of(std::string_view metric, const std::vector<std::string>& patterns);

// --- Sampled series in and outside a finding.

/// Points into samples, which must outlive it.
struct exploding_series {
    std::vector<const sampled_series*> exploding{};
    std::vector<const sampled_series*> healthy{};  ///< known, and no part of the explosion
    time_point since{};                            ///< its beginning, if any series explodes
    bool is_certain = false;                       ///< whether `since` is certain
};
exploding_series split_samples(const finding& found, const sampled& all);

/// The value of a label; empty if it is missing.
std::string_view value_of(const sampled_series& series, std::string_view label);

}  // namespace seriesgate
