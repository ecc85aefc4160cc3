/// What is counted about the store that a fleet shares.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/metrics.hpp"
#include "claim/store_call.hpp"
#include "redis/redis_reply.hpp"

namespace seriesgate {

/// How a download of the fleet's series has ended.
enum class download_result : std::uint8_t {
    complete,
    overtaken,  ///< by the hour's end, or by a loss of data
    failed,
    count_
};

std::string_view name_of(store_outcome outcome) noexcept;
std::string_view name_of(download_result result) noexcept;

/// Threads: any.
struct fleet_metrics {
    counter claims;                          ///< answered
    counter_by<store_outcome> series;        ///< in them
    counter unanswered_series;               ///< of these, shared.onUnavailable decided
    counter alone_series;                    ///< of those: admitted in this gate's part of the room
    counter_by<redis_error::kind> failures;  ///< claims without an answer
    counter no_turn;                         ///< claims that were not sent: too many waited, or too long
    counter other_epoch;                     ///< claims that a store which has lost data did not decide
    counter losses;                          ///< times that the store was found to have lost data
    counter closed;                          ///< claims for an hour that was over, made anew
    counter_by<store_outcome> told;          ///< series that had passed, by what the store said when it was told
    counter_by<download_result> downloads;   ///< of the fleet's series
    counter downloaded_series;               ///< known by them
    counter unasked_series;                  ///< refused without a claim: a budget of theirs was known to be spent
    counter fed_series;                      ///< granted to other gates, and known here by the feed
    counter feed_gaps;                       ///< times that something was missing in the feed
    gauge untold;                            ///< series found untold, and not told yet; there may be more
    gauge waiting;                           ///< claims that wait for their turn
    alignas(64) duration_histogram claim_duration;  ///< of those answered
};

}  // namespace seriesgate
