/// Configuration as a file would have it, for people. Secrets are left out of all of it. Threads: any.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "config/config.hpp"
#include "limit/budget.hpp"
#include "limit/rules.hpp"

namespace seriesgate {

/// Every key with its value, defaults included, as a file of YAML. Loaded again, it gives the same configuration, but
/// for the secrets.
std::string effective_yaml(const config& settings);

/// A value of a file: in quotes where YAML needs them, and `${` in it names no variable.
std::string file_scalar(const std::string& text);

/// The keys of this kind in which two configurations differ, in the order of the table: `maxHourlySeries 1000 -> 2000`
/// for single values, and the name of the key for lists, maps, secrets and long values.
std::vector<std::string> changes(const config& before, const config& after, key_effect of);

/// The part of the configuration that gives a budget these maxima, with the keys that it stands below:
///
///     tenants:
///       overrides: {shop: {maxHourlySeries: 12000, maxDailySeries: 0}}
///
/// An entry of `limits` is complete, as it should read from then on. Only if it has more than 20 overrides, a comment
/// stands for those that stay as they are.
/// @param name of one that is in the figures; `scope` says which.
/// @return nothing if no file can say it: of a budget that the rest shares, of a limit that is not there any more, and
/// of a name that is no UTF-8.
std::optional<std::string> suggested_yaml(const limit_rules& rules, demand_scope scope, const budget_name& name,
                                          const series_maxima& maxima);

}  // namespace seriesgate
