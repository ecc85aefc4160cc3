/// What is counted about asking the store that a fleet shares.
#pragma once

#include "claim/claim.hpp"
#include "metrics/counters.hpp"
#include "redis/redis_error.hpp"

namespace seriesgate {

/// Threads: any.
struct fleet_metrics {
    counter claims;                                 ///< that were answered
    counter_by<claim_outcome> series;               ///< in them
    counter unanswered_series;                      ///< that got what shared.onUnavailable says
    counter_by<redis_error::kind> failures;         ///< claims without an answer
    counter no_turn;                                ///< claims that were not sent: too many waited, or too long
    counter lost;                                   ///< claims that a server which may have lost counts did not decide
    counter recoveries;                             ///< times that the store was found to have lost counts
    counter closed;                                 ///< claims for an hour that was over, made anew
    counter_by<claim_outcome> told;                 ///< series that were accepted at once, by what the store said
    counter told_too_late;                          ///< the same, of an hour that was over before the store answered
    counter shared_out;                             ///< newcomers let pass out of a share
    counter_by<claim_outcome> owed;                 ///< those of them that the store was told of, by what it said
    counter owed_too_late;                          ///< the same, of an hour that was over before the store answered
    gauge waiting;                                  ///< claims that wait for their turn
    alignas(64) duration_histogram claim_duration;  ///< of those answered
};

}  // namespace seriesgate
