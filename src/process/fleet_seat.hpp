/// This gate's place in a fleet.
#pragma once

#include <boost/asio/executor_work_guard.hpp>
#include <thread>

#include "config/config.hpp"
#include "fleet/download.hpp"
#include "fleet/feed.hpp"
#include "fleet/fleet_shared.hpp"
#include "fleet/membership.hpp"
#include "net/asio.hpp"
#include "series/fingerprint.hpp"

namespace seriesgate {

/// Joins, and stays a member on a thread of its own, so that nothing that senders do keeps it from giving signs of
/// life.
class fleet_seat {
  public:
    fleet_shared shared;

  private:
    net::io_context io_;
    net::executor_work_guard<net::io_context::executor_type> goes_on_{io_.get_executor()};
    membership self_;
    download download_;
    feed feed_;
    std::jthread thread_;  // of io_: connections belong to one thread for as long as they live

  public:
    /// Asks the store for the first time. Throws std::runtime_error with one readable line if this gate must not join.
    /// @param key of the installation. What is passed outlives this.
    fleet_seat(const config& settings, const hash_key& key, fleet_metrics& metrics);
    fleet_seat(const fleet_seat&) = delete;
    fleet_seat& operator=(const fleet_seat&) = delete;
    ~fleet_seat() { stop(); }

    /// Stays a member until stop(), and lets the limiter know what the fleet has admitted and admits.
    /// @param limiter the gate's, of the scope fleet; outlives that.
    void stay(series_limiter& limiter);
    void stop();

    /// When no requests come any more, while it and the workers run: what is untold is told, so that no places are kept
    /// for a gate that has ended well. Waits for that, but not for long.
    void leave();
};

/// A gate is a member for as long as this lives.
class fleet_stay {
    fleet_seat& seat_;

  public:
    /// As fleet_seat::stay.
    fleet_stay(fleet_seat& seat, series_limiter& limiter) : seat_(seat) { seat.stay(limiter); }
    fleet_stay(const fleet_stay&) = delete;
    fleet_stay& operator=(const fleet_stay&) = delete;
    ~fleet_stay() { seat_.stop(); }
};

}  // namespace seriesgate
