/// Reads what other gates were granted, so that this one knows it, too.
#pragma once

#include <cstdint>
#include <string>

#include "base/clock.hpp"
#include "claim/feed_follower.hpp"
#include "fleet/download.hpp"
#include "fleet/fleet_shared.hpp"
#include "net/async.hpp"
#include "redis/redis_client.hpp"

namespace seriesgate {

/// Asks for the next page several times a second, on a connection of its own. Pushing would cost the store more: one
/// message for each call and gate. What the feed no longer has is downloaded. Threads: that of its io_context.
class feed {
    using clock = monotonic_clock;

    fleet_shared& shared_;
    series_limiter& limiter_;
    redis_client client_;
    feed_follower follower_;
    download download_;
    std::string said_;  // why the feed cannot be read, as the log has it
    clock::time_point download_at_{};
    clock::duration download_pause_;

  public:
    /// @param shared, limiter outlive it.
    feed(net::io_context& io, fleet_shared& shared, series_limiter& limiter);

    /// Reads until the io_context stops; spawn it once.
    net::awaitable<void> run();

  private:
    enum class end : std::uint8_t { more, all, nothing };
    net::awaitable<end> read_next();
    net::awaitable<void> fill_gaps();
};

}  // namespace seriesgate
