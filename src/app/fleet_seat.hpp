/// This gate's place in a fleet.
#pragma once

#include <stop_token>

#include "config/config.hpp"
#include "fleet/fleet_shared.hpp"
#include "fleet/membership.hpp"
#include "net/asio.hpp"
#include "series/hash_key.hpp"

namespace seriesgate {

/// Joins, and stays a member on a thread of its own, so that nothing that senders do keeps it from giving signs of
/// life.
class fleet_seat {
  public:
    fleet_shared shared;

  private:
    net::io_context io_;
    membership self_;

  public:
    /// Asks the store for the first time. Throws std::runtime_error with one readable line if this gate must not join.
    /// @param key of the installation. What is passed outlives this.
    fleet_seat(const config& settings, const hash_key& key, fleet_metrics& metrics);

    /// Until it is stopped.
    /// @param limiter the gate's, of the scope fleet.
    void run(const std::stop_token& end, const series_limiter& limiter);

    /// When no requests come any more, while it and the workers run: what is untold is told, so that no places are kept
    /// for a gate that has ended well. Waits for that, but not for long.
    void leave();
};

}  // namespace seriesgate
