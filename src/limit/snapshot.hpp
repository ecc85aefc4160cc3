/// The limiter's state as bytes, and back.
#pragma once

#include "core/state_stream.hpp"
#include "limit/window.hpp"

namespace seriesgate {

class series_limiter;

/// Writes everything that a restart must not forget: sets, budgets, sketches, reservations. Requests go on meanwhile;
/// the result is the state of one moment, after the filters have been copied.
/// @return false if the sink failed, or if a window ended meanwhile: try again then.
/// Threads: one at a time.
bool save_snapshot(series_limiter& limiter, state_sink& sink);

/// Takes over what save_snapshot() wrote, then follows the clock: an hour that has ended since becomes the previous
/// one, and what is older is forgotten. For a limiter that has decided nothing yet.
/// @return false if it makes no sense or is not intact; then nothing has changed.
bool restore_snapshot(series_limiter& limiter, state_source& source, time_point now);

}  // namespace seriesgate
