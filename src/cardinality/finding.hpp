/// What has exploded: which label of which metrics, whose, since when.
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

/// What has exploded; or what else is refused.
enum class explosion : std::uint8_t {
    label,         ///< a label of some metrics
    buckets,       ///< `le` of a histogram: it has too many buckets
    metric_names,  ///< names that have something in them that belongs into a label
    tenants,       ///< there are too many of them
    targets,       ///< no explosion: targets come anew, and a limit has no room for all of them
    growth,        ///< no explosion: there are more series than a limit has room for
};

struct finding {
    explosion what = explosion::label;
    std::string tenant{};
    std::string label{};  ///< `__name__` where it is the metrics' names; the one with the most values
    /// Labels that have as many values as that one, by which it could be named as well; it is the first of them.
    std::vector<std::string> labels{};
    /// The one with the most series first; of names a pattern, see name_pattern(); none: it is in many.
    std::vector<std::string> metrics{};
    std::uint64_t series = 0;   ///< of these metrics: new, or refused
    std::uint64_t refused = 0;  ///< of them
    bool is_exact = true;       ///< these two are no estimates
    value_count values{};
    std::string job{};              ///< that at least half of them have; empty: none has half of them
    std::string sender{}, agent{};  ///< the same
    time_point since{};
    time_point last{};  ///< when the last series came that counts in it
    /// Since when there is no more of it, see mark_over().
    std::optional<time_point> over_since{};
};

/// One sentence for people, without anything that could give orders to a terminal.
std::string to_text(const finding& found);

// --- Names of metrics that have something in them that belongs into a label.

/// Digits, and what looks like a hash or a UUID, become `#`: `user_17_requests` and `user_4_requests` are the same.
std::string name_pattern(std::string_view metric);

/// Whether the name has the pattern, one of patterns_of().
bool matches_pattern(std::string_view metric, std::string_view pattern);

/// The patterns that many names have: those of name_pattern(), and of names with a word in them that no other name has
/// (`shop_*_total` of `shop_qkxzv_total`, and so on).
std::vector<std::string> patterns_of(const std::vector<std::string_view>& names);

/// @return of `patterns` the first that the name has; null if it has none.
const std::string* pattern_of(std::string_view metric, const std::vector<std::string>& patterns);

// --- Of what was sampled: the series that a finding is about, and those that it is not.

/// The samples that it is of outlive it.
struct exploding_series {
    std::vector<const sampled_series*> exploding{};
    std::vector<const sampled_series*> healthy{};  ///< known, and no part of it
    time_point since{};                            ///< when it began; if anything explodes
    bool is_certain = false;                       ///< that this is when
};
exploding_series lookup_refused(const finding& found, const sampled& all);

/// The value of a label; empty if there is none.
std::string_view value_of(const sampled_series& series, std::string_view label);

}  // namespace seriesgate
