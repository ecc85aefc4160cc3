/// What has exploded: which label of which metrics, whose, since when.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "talkers/talker_tables.hpp"

namespace seriesgate {

/// What has more values than anybody would look at.
enum class explosion : std::uint8_t {
    label,         ///< a label of some metrics
    buckets,       ///< `le` of a histogram: it has too many buckets
    metric_names,  ///< names that have something in them that belongs into a label
    tenants,       ///< there are too many of them
};

struct finding {
    explosion what = explosion::label;
    std::string tenant{};
    std::string label{};  ///< `__name__` where it is the metrics' names
    /// The one with the most series first; of names a pattern, see name_pattern(); none: it is in many.
    std::vector<std::string> metrics{};
    std::uint64_t series = 0;   ///< of these metrics: new, or refused
    std::uint64_t refused = 0;  ///< of them
    value_count values{};
    std::string job{};              ///< that most of them have; empty: none has half of them
    std::string sender{}, agent{};  ///< the same
    time_point since{};
};

/// From when on something is an explosion.
struct finding_terms {
    std::uint64_t series_min = 1'000;  ///< in the window
    std::uint64_t values_min = 500;
    std::uint64_t buckets_min = 60;
};

/// The worst first: those with the most series. At most ten; none, if nothing has exploded.
///
/// A label has if it has many values among the series of a metric that are new or refused, and more than new targets
/// would explain: of targets that come anew (`instance`, `pod`) each has the same many metrics, and every label that
/// names the target or a part of it has a few values each. That is churn.
/// @param taken, refused of one window.
std::vector<finding> find_explosions(const talker_tables& taken, const talker_tables& refused,
                                     const finding_terms& terms = {});

/// Digits, and what looks like a hash or a UUID, become `#`: `user_17_requests` and `user_4_requests` are the same.
std::string name_pattern(std::string_view metric);

/// One sentence for people, without anything that could give orders to a terminal.
std::string to_text(const finding& found);

}  // namespace seriesgate
