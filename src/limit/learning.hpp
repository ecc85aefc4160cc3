/// What other gates of a fleet have had counted becomes known to this one.
#pragma once

#include <cstdint>
#include <span>

#include "limit/window.hpp"

namespace seriesgate {

class series_limiter;

/// From here on these series are known. Their shared budgets are counted by the store; those that only this gate counts
/// are left alone, for another gate has counted the series there.
/// Throws std::bad_alloc if there is no memory for them; then some may be known.
/// @param limiter of the scope fleet.
/// @param hour in which the store has counted them.
/// @return false if that hour is not in force: then nothing has changed.
/// Threads: any.
bool learn(series_limiter& limiter, const window_span& hour, std::span<const std::uint64_t> fingerprints);

/// Before learn(), if that will be many: makes room for about so many in the hour's set and in the day's.
/// Throws and returns as learn(). Threads: any.
bool expect_series(series_limiter& limiter, const window_span& hour, std::uint64_t series_count);

/// Before learn_hour_before: makes sets for about so many series of the hour before, if this gate was not there then.
/// Throws and returns as learn(). Threads: any.
bool expect_hour_before(series_limiter& limiter, const window_span& hour, std::uint64_t series_count);

/// From here on these series are incumbents. Those of the same day are known in the day, too.
/// Throws as learn().
/// @param hour the one after that in which the store has counted them.
/// @return false if that is not in force, or nobody has called expect_hour_before() in it: then nothing has changed.
/// Threads: any.
bool learn_hour_before(series_limiter& limiter, const window_span& hour, std::span<const std::uint64_t> fingerprints);

}  // namespace seriesgate
