/// Membership of this gate in a fleet, on its own thread.
#pragma once

#include <optional>

#include "config/config.hpp"
#include "fleet/feed.hpp"
#include "fleet/fleet_shared.hpp"
#include "fleet/membership.hpp"
#include "net/event_loop.hpp"
#include "series/fingerprint.hpp"

namespace seriesgate {

/// Joins and stays a member. Its own thread sends the heartbeats, so load from senders cannot delay them.
class fleet_runtime {
  public:
    fleet_shared shared;

  private:
    event_loop loop_;  // a connection stays on one thread
    membership self_;
    std::optional<feed> feed_;

  public:
    /// Looks whether the shared store can hold counts. Throws std::runtime_error with one readable line if this gate
    /// must not join it. @param key of this installation. All arguments outlive this.
    fleet_runtime(const config& settings, const hash_key& key, fleet_metrics& metrics);
    ~fleet_runtime() { stop(); }

    /// Joins, and stays a member until stop(). Throws as the constructor.
    /// @param limiter of the scope fleet, with what the gate knows from before; outlives that.
    void join(series_limiter& limiter, const hash_key& key);
    void stop() noexcept { loop_.stop(); }

    /// Call it without requests, while this runs. Tells of what has passed, so that the store keeps no places for this
    /// gate. Waits at most a second. @param for_good no other process takes over.
    void leave(bool for_good);
};

}  // namespace seriesgate
