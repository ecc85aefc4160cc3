/// Advances hours and days, and makes memory for their sets ahead of need.
///
/// Windows follow the `now` passed in. A step back of up to an hour before the running hour stays in that hour, so a
/// clock correction cannot spend a budget twice. A larger step back, or a leap beyond the next hour, is believed after
/// clock_doubt. It then starts a fresh hour. A fleet follows its store's clock at once and drops what it began by its
/// own clock.
/// Threads: sets_in_force() and make_room() any; maintain_sets() one; the others like the limiter functions that call
/// them.
#pragma once

#include <cstdint>
#include <memory>

#include "limit/limiter_state.hpp"

namespace seriesgate {

/// The sets in force at `now`, advanced first if needed. Takes no lock unless it advances.
[[nodiscard]] published<window_sets>::reader sets_in_force(limiter_state& state, time_point now);

/// Makes memory for growth and for the next windows, and frees ended ones, so that requests need not wait. Advances the
/// windows if no request does.
void maintain_sets(limiter_state& state, time_point now);

/// Makes the next windows' sets. An existing one is kept if it holds as many series as the running window. Making it
/// anew for every further series would zero memory through the whole last minute.
void prepare_spares(limiter_state& state, time_point now);

/// For callers that found a set full, because maintenance fell behind. One thread makes memory, the others wait.
/// @param expected so many series in all will come soon, about; 0: nobody knows.
void make_room(limiter_state& state, std::uint64_t expected = 0);

/// Takes new rules. Destroys the removed budgets without the lock.
void take_rules(limiter_state& state, const std::shared_ptr<const compiled_rules>& rules);

/// Follows the clock after a restart. Time passed unobserved, so a leap is believed at once.
void resume_windows(limiter_state& state, time_point now);

/// Bounds the running sets. They may also hold uncounted keys: exempt series, and keys of histograms from before a
/// reload.
void bound_sets(commit_state& held, const compiled_rules& rules);

}  // namespace seriesgate
