/// This gate's place on the list of those that accept incumbents at once and tell of them afterwards.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.hpp"
#include "claim/claim.hpp"
#include "claim/count_offer.hpp"
#include "fleet/fleet_shared.hpp"
#include "limit/rules.hpp"
#include "net/async.hpp"
#include "redis/redis_client.hpp"

namespace seriesgate {

/// It enters in each hour before it accepts the first one, and leaves after the grace when all of them have been told:
/// as long as it is on the list the store keeps their places. A gate that dies on it keeps them until the hour ends.
/// Threads: that of the membership.
class enrolment {
    using clock = monotonic_clock;

    fleet_shared& shared_;
    const std::string name_;  // of this run of the gate
    std::optional<claim_terms> terms_;
    std::shared_ptr<const compiled_rules> rules_;  // that terms_ are of
    std::optional<std::int64_t> changed_in_;       // the hour in which this gate got other rules
    bool is_answered_ = false;                     // whether its incumbents may pass
    bool may_be_listed_ = false;                   // it has asked for it in this hour
    bool leaves_ = false;                          // nobody passes any more in this hour
    bool is_awaited_ = false;                      // nor does anybody else's new series, until it has left

  public:
    /// @param name of the gate, of this run of it: one that was killed may have left something untold, and another must
    /// not leave in its name.
    enrolment(fleet_shared& shared, std::string name);

    /// What the gate counts by from the first: it may have to wait long for the first sign of life, and serves
    /// meanwhile.
    /// @param rules in force when it begins.
    void begin_by(std::shared_ptr<const compiled_rules> rules);

    /// Enters and leaves as the time and the rules want it. Call it after every sign of life that was answered; while
    /// the store is away, the gate goes on as it was.
    /// @param rules in force.
    net::awaitable<void> keep(redis_client& client, std::shared_ptr<const compiled_rules> rules);

    /// No more is accepted at once in this hour.
    /// @return false if something is untold, or the store has not answered: then it is to be called again.
    net::awaitable<bool> leave(redis_client& client);

    /// The store has lost counts: no more is accepted at once in this hour.
    /// @return what the store has to wait for, before it decides about any other series.
    [[nodiscard]] untold_series_of interrupt();

    /// When the store is to be asked again, if sooner than usual: at an hour's begin, until it has been opened,
    /// and after a loss, while others wait for this gate.
    [[nodiscard]] std::optional<clock::duration> until_next() const;

  private:
    net::awaitable<std::optional<telling_state>> ask(redis_client& client, bool enters);
    void begin(std::int64_t hour, std::shared_ptr<const compiled_rules> rules);
    [[nodiscard]] bool may_enter(time_point now) const;
};

}  // namespace seriesgate
