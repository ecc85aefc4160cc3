/// Membership of this gate in a fleet, on its own thread.
#pragma once

#include <boost/asio/executor_work_guard.hpp>
#include <thread>

#include "config/config.hpp"
#include "fleet/download.hpp"
#include "fleet/feed.hpp"
#include "fleet/fleet_shared.hpp"
#include "fleet/membership.hpp"
#include "net/async.hpp"
#include "series/fingerprint.hpp"

namespace seriesgate {

/// Joins and stays a member. Its own thread sends the heartbeats, so load from senders cannot delay them.
class fleet_runtime {
  public:
    fleet_shared shared;

  private:
    net::io_context io_;
    net::executor_work_guard<net::io_context::executor_type> goes_on_{io_.get_executor()};
    membership self_;
    download download_;
    feed feed_;
    std::jthread thread_;  // runs io_: a connection stays on one thread

  public:
    /// Joins through the shared store. Throws std::runtime_error with one readable line if this gate must not join.
    /// @param key of this installation. All arguments outlive this.
    fleet_runtime(const config& settings, const hash_key& key, fleet_metrics& metrics);
    fleet_runtime(const fleet_runtime&) = delete;
    fleet_runtime& operator=(const fleet_runtime&) = delete;
    ~fleet_runtime() { stop(); }

    /// Stays a member until stop(), and gives the fleet's decisions to the limiter.
    /// @param limiter of the scope fleet; outlives that.
    void stay(series_limiter& limiter);
    void stop();

    /// Call it without requests, while this and the workers run. Reports deferred series, so that the store keeps no
    /// room for this gate. Waits at most a second.
    void leave();
};

}  // namespace seriesgate
