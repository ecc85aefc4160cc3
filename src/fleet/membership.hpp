/// One gate in its fleet: joins, gives signs of life, notices when the store is away, when it is back, and when it has
/// lost counts.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "fleet/beat.hpp"
#include "fleet/enrolment.hpp"
#include "fleet/fleet_shared.hpp"
#include "fleet/recovery.hpp"
#include "fleet/share_asking.hpp"
#include "net/async.hpp"
#include "redis/redis_client.hpp"

namespace seriesgate {

class series_limiter;

/// Says so in the log, once for each change. Threads: that of its io_context.
class membership {
    using clock = monotonic_clock;

    fleet_shared& shared_;
    const gate_identity who_;
    const std::string run_;  // another one each time that the gate is started
    redis_client client_;
    enrolment enrolment_;
    share_asking shares_;
    recovery recovery_;
    std::string server_;               // what it calls itself
    clock::time_point examined_at_{};  // whether it can hold counts
    std::vector<std::string> others_;  // gates that were alive when the counts were last whole
    std::optional<clock::time_point> away_since_;
    std::optional<clock::time_point> recovering_since_;
    std::string said_;  // why it is away, as the log has it

  public:
    /// @param shared outlives it.
    membership(net::io_context& io, fleet_shared& shared, gate_identity who);

    /// The first try, before anything is served. It waits until the store's counts are whole, some seconds at most.
    /// @return why this gate must not join: a mistake that people have to mend. Empty if it has joined, and if the
    /// store cannot be reached, which the log says: then keep() goes on trying.
    net::awaitable<std::string> join();

    /// Keeps it a member until the io_context stops; spawn it once.
    /// @param limiter by whose rules it counts.
    net::awaitable<void> keep(const series_limiter& limiter);

    /// Before the gate ends: until nothing is untold and the store keeps no places for it. That may be for ever.
    net::awaitable<void> leave();

  private:
    /// Why it is not joined; `must_not` is for people to mend, and what is recovering mends itself.
    struct obstacle {
        std::string why;
        bool must_not = false;
        bool recovers = false;
    };
    net::awaitable<std::optional<obstacle>> beat();
    net::awaitable<std::optional<obstacle>> recover();
    void remember_others();
    void stand(const std::optional<obstacle>& in_the_way);
    net::awaitable<std::optional<obstacle>> examine();
    void joined();
    void recovers();
    void parted(const obstacle& by);
    void end_outage();
    [[nodiscard]] const char* new_series() const noexcept;
    [[nodiscard]] clock::duration until_next() const;
};

}  // namespace seriesgate
