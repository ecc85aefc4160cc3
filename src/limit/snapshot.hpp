/// Saves the limiter's state as bytes and restores it.
#pragma once

#include "core/state_stream.hpp"
#include "limit/window.hpp"

namespace seriesgate {

class series_limiter;

/// Writes all that a restart must keep: sets, budgets, sketches, reservations. Requests continue meanwhile. The result
/// shows one moment, the end of copying the filters.
/// @return false if the sink failed, or a window ended meanwhile: try again. Threads: one at a time.
bool save_snapshot(series_limiter& limiter, state_sink& sink);

/// Loads a snapshot into an unused limiter, then follows the clock. An hour that has ended since becomes the previous
/// one; older state is dropped.
/// @return false if the snapshot is damaged or inconsistent; then nothing has changed.
bool restore_snapshot(series_limiter& limiter, state_source& source, time_point now);

}  // namespace seriesgate
