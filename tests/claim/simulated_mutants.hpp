/// Ways to break a simulated fleet: the simulation has to find each of them.
#pragma once

namespace seriesgate::testing {

/// What a gate or the store gets wrong, on purpose.
struct mutants {
    // the store
    bool claims_after_closing = false;   ///< decides claims for the hour before the one that is open
    bool hour_before_not_asked = false;  ///< incumbents are newcomers
    bool repeats_counted = false;        ///< what is known is counted once more
    bool refusals_counted = false;       ///< what is refused is counted in the first of its budgets
    bool lapse_by_timer = false;         ///< the room that is kept lapses with the grace, whoever has yet to tell
    bool place_not_kept = false;         ///< gates may tell later, and no place is kept for that
    bool any_server = false;             ///< a server with a head is one whose counts are whole
    bool recovery_waits_for_nobody = false;
    bool shares_of_other_rules = false;  ///< are given, too
    bool owed_as_newcomers = false;      ///< what has passed out of shares has to find room among claims
    bool day_not_marked = false;         ///< in whose first hour some gate has not told of all
    bool nothing_carried = false;        ///< into the day, of what may have passed in its first hour
    bool any_day_before = false;         ///< at midnight incumbents may pass at once whatever the limits were
    bool held_for_nobody = false;        ///< after a loss others are decided about before what is untold
    // a gate
    bool rules_that_changed_ignored = false;
    bool grace_cut_short = false;        ///< room that is kept lapses before its time
    bool groups_opened_locally = false;  ///< a gate gives places of their own to the groups that it sees first
    bool timeouts_remembered = false;    ///< no answer is taken for a refusal
    bool late_answers_inserted = false;  ///< into the hour that it is by then
    bool clock_runs_on = false;          ///< when the store cannot be heard, too
    bool own_counts_decide = false;      ///< of a gate that is not answered
    bool untold_forgotten = false;       ///< what was accepted at once is never told of
    bool accepts_though_it_must_wait = false;
    bool at_once_after_other_rules = false;  ///< though it has what those did not limit
    bool leaves_with_untold = false;         ///< the list of those that tell later
    bool nothing_offered = false;            ///< of what it has heard, after a loss
    bool untold_not_announced = false;       ///< the store is not told to wait for them, after a loss
    bool reserve_ignored = false;            ///< by its claims
    bool shares_of_heard_counts = false;     ///< it takes what is left by what it has heard
    bool share_of_name = false;              ///< it has the share of the run before, which may have used it up
    bool share_outlives_hour = false;        ///< and its day, when the store cannot be heard
    bool stale_feed_decides = false;         ///< by what it has read some time ago
    bool feed_gaps_unnoticed = false;
};

}  // namespace seriesgate::testing
