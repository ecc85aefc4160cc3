/// Maxima as a file would have them, for who wants to change one.
#pragma once

#include <optional>
#include <string>

#include "limit/budget.hpp"
#include "limit/rules.hpp"

namespace seriesgate {

/// The part of the configuration that gives a budget these maxima, with the keys that it stands below:
///
///     tenants:
///       overrides: {shop: {maxHourlySeries: 12000, maxDailySeries: 0}}
///
/// An entry of `limits` is there whole, as it should read from then on; but for its other overrides when they are more
/// than 20: a comment stands for those.
/// @param name of one that is in the figures; `scope` says which.
/// @return nothing if no file can say it: of a budget that the rest shares, of a limit that is not there any more, and
/// of a name that is no UTF-8.
std::optional<std::string> suggested_yaml(const limit_rules& rules, demand_scope scope, const budget_name& name,
                                          const series_maxima& maxima);

}  // namespace seriesgate
