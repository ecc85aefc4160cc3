/// This gate's shares of what claims leave, asked for while the store can be heard.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "claim/claim.hpp"
#include "fleet/fleet_shared.hpp"
#include "limit/rules.hpp"
#include "net/async.hpp"
#include "redis/redis_client.hpp"

namespace seriesgate {

/// It asks in each hour until it has been answered: a gate that does not hear the store in an hour has no share of it.
/// Threads: that of the membership.
class share_asking {
    fleet_shared& shared_;
    const std::string name_;  // of this run of the gate
    std::optional<claim_terms> terms_;
    std::shared_ptr<const compiled_rules> rules_;  // that terms_ are of
    bool is_answered_ = false;                     // for the hour of terms_

  public:
    /// @param name of the gate, of this run of it: another one may have taken its share already.
    share_asking(fleet_shared& shared, std::string name) : shared_(shared), name_(std::move(name)) {}

    /// Call it after every sign of life that was answered.
    /// @param rules in force.
    net::awaitable<void> keep(redis_client& client, std::shared_ptr<const compiled_rules> rules);

  private:
    void begin(std::int64_t hour, std::shared_ptr<const compiled_rules> rules);
};

}  // namespace seriesgate
