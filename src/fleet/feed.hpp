/// Reads what other gates have had counted, so that this one knows it, too.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>

#include "base/clock.hpp"
#include "fleet/feed_reading.hpp"
#include "fleet/fleet_shared.hpp"
#include "limit/window.hpp"
#include "net/async.hpp"
#include "redis/redis_client.hpp"

namespace seriesgate {

class series_limiter;

/// Asks for the next piece some times a second, on a connection of its own. A store that tells by itself would do so
/// for each claim and each gate, which costs it more than it costs to be asked.
///
/// Series that were taken in the hour become known; of those that this gate has accepted at once it does not have to
/// tell any more; and it knows how full budgets are, so that nobody is asked about one that is spent. What this gate
/// has taken itself becomes known by the answers to its claims, with which its own limits count, and here only in case
/// that they were lost: when there is no answer to wait for. Threads: that of its io_context.
class feed {
  public:
    using clock = monotonic_clock;
    /// Takes all series over that the store has in an hour.
    /// @return whether it has.
    using download = std::function<net::awaitable<bool>(const window_span& hour)>;

  private:
    enum class end : std::uint8_t { more, all, nothing };

    fleet_shared& shared_;
    redis_client client_;
    download download_;
    feed_reading reading_;

  public:
    /// @param shared outlives it.
    /// @param by for what is not in the feed any more; nothing: such series are asked about when they come.
    feed(net::io_context& io, fleet_shared& shared, download by = nullptr);

    /// Reads until the io_context stops; spawn it once.
    /// @param limiter of the scope fleet.
    net::awaitable<void> resolve_stale(series_limiter& limiter);

    /// See feed_reading. What comes of an answer is counted.
    void begin(std::int64_t hour) { reading_.begin(hour); }
    bool take(const feed_answer& said, clock::time_point sent, series_limiter& limiter);
    void take_late(clock::time_point now, series_limiter& limiter) { reading_.take_late(now, limiter); }

  private:
    net::awaitable<end> read_next(series_limiter& limiter);
    net::awaitable<void> fill_gap();
};

}  // namespace seriesgate
