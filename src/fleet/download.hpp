/// Reads the fleet's series out of the shared store when a gate joins, and after a gap in the feed.
#pragma once

#include <cstdint>
#include <string>

#include "base/clock.hpp"
#include "claim/store_call.hpp"
#include "fleet/fleet_shared.hpp"
#include "fleet/set_reading.hpp"
#include "limit/window.hpp"
#include "net/async.hpp"
#include "redis/redis_client.hpp"

namespace seriesgate {

/// Reads the sets of the open hour and of the hour before, and the counts of both and of the day. So a restarted gate
/// does not ask about each of its series anew. Requests are served meanwhile, and ask about what is not known yet.
/// Threads: that of the client's io_context.
class download {
    fleet_shared& shared_;
    redis_client& client_;
    std::string said_;  // why the last one failed, as the log has it

  public:
    /// Both outlive it.
    download(fleet_shared& shared, redis_client& over) : shared_(shared), client_(over) {}

    /// @param connection connection_epoch() of the client when it heard of the windows: all must come from one server.
    /// @return whether it is complete.
    net::awaitable<bool> read(series_limiter& limiter, std::uint64_t connection);

    /// Reads only how full budgets are. @return whether that is known now.
    net::awaitable<bool> read_counts();

  private:
    struct ending {
        download_result result = download_result::complete;
        std::string why;
        std::uint64_t bytes = 0;
        std::uint64_t series = 0;
        std::uint64_t incumbents = 0;
    };
    net::awaitable<void> read_all(series_limiter& limiter, std::uint64_t connection, ending& all);
    net::awaitable<void> read_into(series_limiter& limiter, window_span hour, shared_set set, bool before, ending& all);
    net::awaitable<void> read_records(open_windows open, ending& all);
    net::awaitable<void> read_record(std::string record, std::int64_t hour,
                                     std::uint64_t fleet_view::budget_counts::*window, ending& all);
    void log_end(const ending& of, monotonic_clock::duration lasted);
};

}  // namespace seriesgate
