/// Advances hours and days, and makes memory for their sets ahead of need.
#pragma once

#include <functional>
#include <memory>

#include "core/synchronization.hpp"
#include "limit/commit_state.hpp"
#include "limit/limiter_state.hpp"

namespace seriesgate {

/// Replaces the sets in force when the clock or the rules require it.
///
/// Windows follow the `now` passed in. A step back of up to an hour before the running hour stays in that hour, so a
/// clock correction cannot spend a budget twice. A larger step back, or a leap beyond the next hour, is believed after
/// clock_doubt. It then starts a fresh hour. A fleet follows its store's clock at once and drops what it began by its
/// own clock.
/// Threads: in_force() and make_room() any; maintain() one; the others like the limiter functions that call them.
class windows {
    limiter_state& state_;
    /// Lets one thread make memory while others wait: for one segment, or one partition of a table. Locked before the
    /// commit lock. Fair, because maintenance locks it again at once.
    fair_mutex growth_;

  public:
    windows(limiter_state& state, time_point now);

    /// The sets in force at `now`, advanced first if needed. Takes no lock unless it advances.
    [[nodiscard]] published<window_sets>::reader in_force(time_point now);

    /// Makes memory for growth and for the next windows, and frees ended ones, so that requests need not wait. Advances
    /// the windows if no request does.
    void maintain(time_point now);

    /// For callers that found a set full, because maintenance fell behind. One thread makes memory, the others wait.
    /// @param expected so many series in all will come soon, about; 0: nobody knows.
    void make_room(std::uint64_t expected = 0);

    /// Takes new rules. Destroys the removed budgets without the lock.
    void reconfigure(const std::shared_ptr<const compiled_rules>& rules);

    /// Follows the clock after a restart. Time passed unobserved, so a leap is believed at once.
    void resume(time_point now);

  private:
    void advance(time_point now);
    bool try_advance(time_point now);
    static void end_graces(commit_state& held, window_sets& next, time_point now);
    void believe_leap(time_point now);
    void forget_leap();
    void roll_over(commit_state& held, window_sets& next, time_point now);
    void prepare_spares(time_point now);
    void grow(const admitted_set& wanting);
    void grow_if_full(const admitted_set& set);
    void grow_table(series_table& table);
    void end_idle(time_point now);
    void forget_refusals(time_point now);
    void rewrite(series_table& table, const std::function<std::unique_ptr<series_table::rewrite>()>& plan);
    void free_retired(series_table& table);
};

/// Bounds the running sets. They may also hold uncounted keys: exempt series, and keys of histograms from before a
/// reload.
void bound_sets(commit_state& held, const compiled_rules& rules);

}  // namespace seriesgate
