/// Reads what other gates have had counted, so that this one knows it, too.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <vector>

#include "fleet/feed_text.hpp"
#include "fleet/fleet_shared.hpp"
#include "limit/window.hpp"
#include "net/asio.hpp"
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
    using clock = std::chrono::steady_clock;
    /// Takes all series over that the store has in an hour.
    /// @return whether it has.
    using download = std::function<net::awaitable<bool>(const window_span& hour)>;

  private:
    /// How far it has come in an hour.
    struct place {
        std::int64_t hour = 0;
        std::uint64_t read = 0;        // series, as the store numbers them
        bool knows_all = true;         // of those
        clock::time_point retry_at{};  // of the download of what it does not know
    };
    /// Something that this gate has taken itself, and may hear the answer to in this moment. Or counts that have come
    /// behind that: by them it is to know all that is counted.
    struct late {
        clock::time_point at{};
        std::int64_t hour = 0;
        fed_claim said{};
    };
    enum class end : std::uint8_t { more, all, nothing };

    fleet_shared& shared_;
    redis_client client_;
    download download_;
    std::optional<place> at_;
    std::deque<late> late_;

  public:
    /// @param shared outlives it.
    /// @param by for what is not in the feed any more; nothing: such series are asked about when they come.
    feed(net::io_context& io, fleet_shared& shared, download by = nullptr);

    /// Reads until the io_context stops; spawn it once.
    /// @param limiter of the scope fleet.
    net::awaitable<void> follow(series_limiter& limiter);

    /// Begins an hour, if it is another one: since the epoch.
    void begin(std::int64_t hour);
    /// Takes over what one answer says about the hour that was begun last.
    /// @param sent when it was asked for.
    /// @return false if what is left of it has to be read once more.
    bool take(const feed_answer& said, clock::time_point sent, series_limiter& limiter);
    /// Takes over what could not be taken at once. Call it now and then.
    void take_late(clock::time_point now, series_limiter& limiter);

  private:
    net::awaitable<end> read_next(series_limiter& limiter);
    net::awaitable<void> fill_gap();
    void lose_until(std::uint64_t series);
    bool take_claim(const fed_claim& one, clock::time_point now, series_limiter& limiter);
};

}  // namespace seriesgate
