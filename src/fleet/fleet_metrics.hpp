/// What is counted about asking the store that a fleet shares.
#pragma once

#include <cstdint>

#include "base/metrics.hpp"
#include "claim/claim.hpp"
#include "redis/redis_reply.hpp"

namespace seriesgate {

/// How a download of the fleet's series has ended.
enum class download_result : std::uint8_t {
    complete,
    overtaken,  ///< by the hour's end
    failed,
    count_
};

/// Threads: any.
struct fleet_metrics {
    counter claims;                          ///< that were answered
    counter_by<claim_outcome> series;        ///< in them
    counter unanswered_series;               ///< that got what shared.onUnavailable says
    counter_by<redis_error::kind> failures;  ///< claims without an answer
    counter no_turn;                         ///< claims that were not sent: too many waited, or too long
    counter lost;                            ///< claims that a server which may have lost counts did not decide
    counter recoveries;                      ///< times that the store was found to have lost counts
    counter closed;                          ///< claims for an hour that was over, made anew
    counter_by<claim_outcome> told;          ///< series that were accepted at once, by what the store said
    counter told_too_late;                   ///< the same, of an hour that was over before the store answered
    counter_by<download_result> downloads;   ///< of the fleet's series
    counter downloaded_series;               ///< that became known so, also by one that was not complete
    counter unasked_series;                  ///< refused without a claim: a budget of theirs was known to be spent
    counter fed_series;                      ///< that other gates have taken, and this one knows for it
    counter struck_series;                   ///< of them: this gate had yet to tell of them, and does not have to
    counter feed_gaps;                       ///< times that something was missing in the feed
    counter shared_out;                      ///< new series let pass out of a share
    counter_by<claim_outcome> owed;          ///< those of them that the store was told of, by what it said
    counter owed_too_late;                   ///< the same, of an hour that was over before the store answered
    gauge waiting;                           ///< claims that wait for their turn
    alignas(64) duration_histogram claim_duration;  ///< of those answered
};

}  // namespace seriesgate
