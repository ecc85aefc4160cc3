/// Of what was sampled: the series that a finding is about, and those that it is not.
#pragma once

#include <string_view>
#include <vector>

#include "talkers/finding.hpp"
#include "talkers/series_sample.hpp"

namespace seriesgate {

/// The samples that it is of outlive it.
struct exploding_series {
    std::vector<const sampled_series*> exploding{};
    std::vector<const sampled_series*> healthy{};  ///< known, and no part of it
    time_point since{};                            ///< when it began; if anything explodes
    bool is_certain = false;                       ///< that this is when
};
exploding_series sort_out(const finding& found, const sampled& all);

/// The value of a label; empty if there is none.
std::string_view value_of(const sampled_series& series, std::string_view label);

}  // namespace seriesgate
