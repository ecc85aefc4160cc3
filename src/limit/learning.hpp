/// Fleet: imports series that other gates have had counted.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "limit/window.hpp"

namespace seriesgate {

struct budget_pair;
struct compiled_rules;
class series_limiter;

/// Makes these series known. The store counts their shared budgets. Budgets of this gate alone stay unchanged: another
/// gate counted the series there. Throws std::bad_alloc if memory runs out; then some series may be known.
/// @param limiter of scope fleet.
/// @param hour in which the store counted them.
/// @param expected about how many series will be learnt soon in all; 0: unknown.
/// @return false if that hour is not in force; then nothing has changed. Threads: any.
bool learn(series_limiter& limiter, const window_span& hour, std::span<const std::uint64_t> fingerprints,
           std::uint64_t expected = 0);

/// From now on the hour before has series, even if this gate did not observe it. Call it before learn_hour_before().
/// Throws and returns as learn(). Threads: any.
bool expect_hour_before(series_limiter& limiter, const window_span& hour);

/// Makes these series incumbents. If that hour was in the same day, they are known in the day too. `expected` and what
/// it throws: as learn().
/// @param hour the one after the hour in which the store counted them.
/// @return false if it is not in force, or expect_hour_before() was not called in it; then nothing has changed.
/// Threads: any.
bool learn_hour_before(series_limiter& limiter, const window_span& hour, std::span<const std::uint64_t> fingerprints,
                       std::uint64_t expected = 0);

/// What the store counts in a budget.
struct fleet_counts {
    std::uint64_t hourly = 0;
    std::uint64_t daily = 0;
    std::uint64_t kept = 0;  ///< places of the hour before
};

/// Shows the store's counts in place of this gate's own. @param of gives the counts of a budget; nothing: unknown.
/// @param hour, rules that `of` is about; if others are in force, nothing has changed. Threads: any.
void show_counts(series_limiter& limiter, const window_span& hour, const compiled_rules& rules,
                 const std::function<std::optional<fleet_counts>(const budget_pair&)>& of);

}  // namespace seriesgate
