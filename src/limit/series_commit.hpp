/// Commits the new series of one request, in short pieces under the commit lock.
#pragma once

#include <span>

#include "limit/lookup_result.hpp"
#include "limit/verdict.hpp"

namespace seriesgate {

/// Decides about all pending series. Gives the lock back after each piece, so that other requests get their turn.
///
/// For whole histograms, a second round handles sums and counts, wherever they stand in the request. A limit by metric
/// name fills up with buckets first; it must refuse the histogram before its sum begins it.
/// @param by_fleet the fleet decision, see series_limiter::commit; the rules have been selected then.
/// @return as series_limiter::commit.
bool commit_series(limiter_state& state, std::span<const offered_series> offered, time_point now,
                   std::span<verdict> verdicts, lookup_result& open, const request_origin& origin,
                   const fleet_decision* by_fleet);

}  // namespace seriesgate
