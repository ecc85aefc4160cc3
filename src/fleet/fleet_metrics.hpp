/// What is counted about a gate in its fleet.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "claim/claim.hpp"
#include "fleet/fleet_member.hpp"
#include "fleet/fleet_state.hpp"
#include "metrics/counters.hpp"
#include "redis/redis_error.hpp"

namespace seriesgate {

class exposition;

/// Series by what the store has said of them. Threads: any.
class counter_by_outcome {
    std::array<counter, 4> counters_;

  public:
    counter& operator[](claim_outcome said) noexcept { return counters_[static_cast<std::size_t>(said)]; }
    const counter& operator[](claim_outcome said) const noexcept { return counters_[static_cast<std::size_t>(said)]; }
};

/// A claim is counted once: as answered, as a failure, or as without a turn. Threads: any.
struct fleet_metrics {
    counter claims;                                 ///< that the store has answered
    counter closed;                                 ///< of these, for an hour that was not the store's: made anew
    counter no_turn;                                ///< not sent: too many waited, or shared.timeout was over by then
    counter_by<redis_error::kind> failures;         ///< sent, and without an answer that says something
    counter_by_outcome series;                      ///< that claims were about
    counter unanswered_series;                      ///< they got what shared.onUnavailable says
    gauge waiting;                                  ///< requests, for their turn
    alignas(64) duration_histogram claim_duration;  ///< claim sent to answer read, of those answered
};

/// How things stand now.
struct fleet_facts {
    fleet_state state = fleet_state::joining;
    std::string name_space{};                 ///< shared.namespace
    bool admits = false;                      ///< shared.onUnavailable: admit
    std::chrono::nanoseconds clock_offset{};  ///< the store's clock less the gate's own
    std::vector<fleet_member> gates{};        ///< this one too
};

/// Its families.
void write(exposition& out, const fleet_metrics& metrics, const fleet_facts& now);

}  // namespace seriesgate
