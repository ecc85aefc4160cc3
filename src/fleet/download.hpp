/// What the fleet has admitted becomes known to a gate that joins it.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "base/clock.hpp"
#include "core/result.hpp"
#include "fleet/fleet_shared.hpp"
#include "fleet/set_reading.hpp"
#include "limit/window.hpp"
#include "net/async.hpp"
#include "redis/redis_client.hpp"

namespace seriesgate {

class series_limiter;

/// Reads the sets of the open hour and of the hour before out of the store, so that a gate that is restarted does not
/// ask about each of its series anew. Requests are served meanwhile: whatever is not known yet is asked about.
///
/// One that fails is begun anew, at most every few seconds. Threads: that of its io_context.
class download {
    using clock = monotonic_clock;

    fleet_shared& shared_;
    redis_client client_;
    async_timer wakes_;
    std::uint64_t asked_ = 1;  // for the times that this gate joins
    std::uint64_t done_ = 0;   // up to which of them
    std::string said_;         // why the last one failed, as the log has it

  public:
    /// @param shared outlives it.
    download(net::io_context& io, fleet_shared& shared);

    /// Downloads once the gate has joined, and whenever it is asked to, until the io_context stops; spawn it once.
    /// @param limiter the gate's, of the scope fleet.
    net::awaitable<void> run(series_limiter& limiter);

    /// Downloads once more: the gate may have missed what others were granted.
    /// @return whether that is complete; not if it takes too long, but it goes on.
    net::awaitable<bool> once_more();

  private:
    /// The sets of an hour and of the one before, as far as there are any.
    struct found_sets {
        std::optional<shared_set> hour;
        std::optional<shared_set> before;
    };
    /// How one attempt has ended.
    struct ending {
        download_result result = download_result::complete;
        std::string why;
        std::uint64_t bytes = 0;
        std::uint64_t series = 0;
        std::uint64_t incumbents = 0;
    };
    net::awaitable<bool> attempt(series_limiter& limiter);
    net::awaitable<ending> read(series_limiter& limiter);
    net::awaitable<result<found_sets, std::string>> find(std::int64_t hour);
    net::awaitable<bool> read_into(series_limiter& limiter, window_span hour, shared_set set, bool before, ending& all);
    void tell(const ending& of, clock::duration lasted);
};

}  // namespace seriesgate
