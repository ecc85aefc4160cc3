/// Which sets are in force: hours and days that begin and end, and memory for them ahead of need.
#pragma once

#include <memory>
#include <mutex>

#include "limit/commit_state.hpp"
#include "limit/limiter_state.hpp"

namespace seriesgate {

/// Replaces the sets in force when the clock or the rules ask for it, and makes memory for them.
///
/// Time: windows follow the `now` that is passed in. A step back to at most an hour before the running hour stays in
/// that hour, so a budget cannot be spent twice by a clock correction. A larger one, or one beyond the next hour, is
/// believed when it has lasted for clock_doubt; then it leads to an hour that starts afresh. In a fleet the clock is
/// its store's, and is followed at once; what a gate has begun by its own clock before it heard that is given up.
///
/// Threads: in_force() and make_room() any; maintain() one; the others as the limiter's that call them.
class windows {
    limiter_state& state_;
    /// Makes segments: one at a time, the others wait for it. Taken before the ledger's lock.
    std::mutex growth_;

  public:
    /// @param now as for the state.
    windows(limiter_state& state, time_point now);

    /// The sets of this moment, rolled over first if the clock asks for it. No lock, but for who rolls over.
    [[nodiscard]] sets_in_force::reader in_force(time_point now);

    /// Does ahead of time what a request must not wait for: memory for growth and for the next windows, release of
    /// what has ended. Rolls over too when no request does.
    void maintain(time_point now);

    /// For who has found a set full: maintenance has fallen behind. One makes the memory, the others wait for it.
    void make_room();
    /// Before so many series come at once: a segment for all of them costs less than several that grow.
    void make_room_for(std::uint64_t series_count);
    /// As make_room() for who writes to the sets of the hour before.
    void make_room_before();

    /// Takes other rules. What they leave behind is destroyed without the lock.
    void reconfigure(const std::shared_ptr<const compiled_rules>& rules);

    /// Follows the clock after a restart: time has passed while nobody was there to see it, so a leap is no mistake.
    void resume(time_point now);

  private:
    void advance(time_point now);
    bool try_advance(time_point now);
    static void end_graces(commit_state& held, window_sets& next, time_point now);
    void believe_leap(time_point now);
    void forget_leap();
    void roll_over(commit_state& held, window_sets& next, time_point now);
    void prepare_spares(time_point now);
    void grow(const admitted_set& wanting, std::uint64_t series_count = 0);
    void grow_if_full(const admitted_set& set);
};

/// Says how many series may come at most into the running sets. They may hold what no limit counts: exempt series, and
/// keys of histograms from before a reload.
void bound_sets(commit_state& held, const compiled_rules& rules);

}  // namespace seriesgate
