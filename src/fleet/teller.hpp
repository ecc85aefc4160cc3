/// Tells the shared store of incumbents that were accepted at once, and of new series that were let pass out of a
/// share.
#pragma once

#include <chrono>
#include <deque>

#include "claim/questions.hpp"
#include "fleet/claimer.hpp"
#include "fleet/fleet_shared.hpp"
#include "limit/untold.hpp"
#include "net/async.hpp"
#include "series/fingerprint.hpp"

namespace seriesgate {

class series_limiter;

/// One worker's queue of them: the same claims as of those that wait, after the requests of their tenant that do. What
/// is not answered is tried again until its hour is over. Threads: the worker's.
class teller {
    fleet_shared& shared_;
    claimer& claimer_;
    series_limiter& limiter_;
    const hash_key& key_;
    std::deque<untold> queue_;
    std::size_t queue_bytes_ = 0;  // without what is under way
    async_timer wakes_;            // never runs out

  public:
    /// All of these outlive it.
    /// @param key of the installation.
    teller(net::io_context& io, fleet_shared& shared, claimer& by, series_limiter& limiter, const hash_key& key);

    /// By which a request's incumbents may be accepted: see series_limiter::set_aside. Null while the queue is too
    /// large.
    [[nodiscard]] untold_series* at_once() noexcept;
    /// Whether new series may be let pass out of a share: they are to be told of, too.
    [[nodiscard]] bool has_room() const noexcept;
    /// @param one not empty.
    void take(untold one);

    /// Runs until the io_context stops; as many as are to be under way at once.
    net::awaitable<void> run();

  private:
    enum class end : std::uint8_t { done, again };
    net::awaitable<end> tell(untold& one, questions& asked);
    void drop(const untold& one);
    [[nodiscard]] bool settle(untold& one, const told& said);
    void count(const untold& one, const told& said);
    void forget(const untold& one);
};

}  // namespace seriesgate
