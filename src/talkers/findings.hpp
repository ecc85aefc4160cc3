/// Finds what has exploded.
#pragma once

#include <cstdint>
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

}  // namespace seriesgate
