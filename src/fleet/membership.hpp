/// One gate in its fleet: gives signs of life, tells the store what passed unasked, and tells it all again after a
/// loss.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "base/clock.hpp"
#include "claim/fleet_rules.hpp"
#include "claim/gate_session.hpp"
#include "claim/untold_walker.hpp"
#include "fleet/fleet_shared.hpp"
#include "net/async.hpp"
#include "redis/redis_client.hpp"
#include "series/fingerprint.hpp"

namespace seriesgate {

/// Each change is a line in the log. Threads: that of its io_context.
class membership {
    using clock = monotonic_clock;

    fleet_shared& shared_;
    redis_client client_;
    std::optional<gate_session> session_;  // from join() on
    std::optional<untold_walker> walker_;
    std::optional<fleet_rules> rules_;
    series_limiter* limiter_ = nullptr;
    std::string server_;               // what it calls itself
    clock::time_point examined_at_{};  // whether it can hold counts
    std::optional<clock::time_point> away_since_;
    std::optional<clock::time_point> refilling_since_;
    std::string said_;  // why it is away, as the log has it
    bool has_joined_ = false;
    bool is_leaving_ = false;  // has said so, and says nothing else
    bool has_left_ = false;

  public:
    /// @param shared outlives it.
    membership(net::io_context& io, fleet_shared& shared);

    /// Before there is a limiter: looks whether the store can hold counts, and takes its time.
    /// @return why this gate must not join: a mistake that people have to mend. Empty also if the store is away.
    net::awaitable<std::string> greet();

    /// The first heartbeat, before anything is served. @return as greet(); keep() goes on trying.
    /// @param limiter with all series that the gate knows from before; outlives this.
    net::awaitable<std::string> join(series_limiter& limiter, const hash_key& key);

    /// Heartbeats, until the io_context stops; spawn it once, after join().
    net::awaitable<void> keep();
    /// Tells of series, until the io_context stops; spawn it once, after join().
    net::awaitable<void> tell();

    /// Call it before the gate ends. Returns when all is told; that may be never.
    /// @param for_good no other process takes over; then the store waits for this gate no more.
    net::awaitable<void> leave(bool for_good);

  private:
    /// Why it is not joined.
    struct obstacle {
        std::string why;
        bool must_not = false;  ///< people have to mend it
    };
    net::awaitable<std::optional<obstacle>> beat(bool leaves = false);
    net::awaitable<std::optional<obstacle>> examine();
    net::awaitable<bool> tell_one(const store_call& call);
    void act_on(gate_session::news of);
    void note_refilled();
    void log_state(const std::optional<obstacle>& in_the_way);
    void log_away(const obstacle& by);
    void log_back();
    [[nodiscard]] const char* new_series() const;
    [[nodiscard]] std::chrono::seconds grace() const;
};

}  // namespace seriesgate
