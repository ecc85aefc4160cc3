/// What is said of a request of which not everything goes on, to its sender and in the log.
#pragma once

#include <string>
#include <string_view>

#include "plan/plan.hpp"
#include "plan/planner.hpp"
#include "wire/translation.hpp"

namespace seriesgate {

class series_limiter;

/// `refused 3 new series (5 samples)`
std::string refused_summary(const plan_counts& decided);

/// For the sender: the summary, the limits that are spent, and an example for each. The first line says the essence.
/// @param planning of the plan.
/// @return nothing if the sender is to be told of no refused series.
std::string refused_text(const plan& decided, std::string_view tenant, planner& planning, series_limiter& limiter);

/// For the sender: what a store of remote write 1 would not have. Empty if nothing is lost.
std::string untranslated_text(const translation_loss& lost);

}  // namespace seriesgate
