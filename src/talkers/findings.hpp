/// Finds what has exploded.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "talkers/finding.hpp"
#include "talkers/series_sample.hpp"
#include "talkers/talker_tables.hpp"

namespace seriesgate {

/// From when on something is an explosion.
struct finding_terms {
    std::uint64_t series_min = 1'000;  ///< in the window
    std::uint64_t values_min = 500;
    std::uint64_t buckets_min = 60;
};

/// The worst first: those with the most series. At most ten; none if nothing has exploded and nothing is refused.
///
/// A label has if it has many values among the series of a metric that are new or refused, and more than new targets
/// would explain: of targets that come anew (`instance`, `pod`) each has the same many metrics, and every label that
/// names the target or a part of it has a few values each. That is churn, and named where series are refused for it.
/// @param taken, refused of one window.
/// @param all what was sampled: says when it began, and in which metrics and jobs. Without it the tables say so.
std::vector<finding> find_explosions(const talker_tables& taken, const talker_tables& refused,
                                     const finding_terms& terms = {}, const sampled& all = {});

/// When samples were last refused, of whatever series.
struct watched_refusals {
    time_point watched_since{};
    std::optional<time_point> last{};  ///< nothing: not since then
};
/// Senders come at least as often.
inline constexpr std::chrono::minutes over_after{5};

/// Says of what nothing has come for over_after that it is over, and puts it behind the others. A series that is
/// refused again and again is new once only: so what is refused in part goes on as long as anything is refused.
void mark_over(std::vector<finding>& all, time_point now, const watched_refusals& refusals);

}  // namespace seriesgate
