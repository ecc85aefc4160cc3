/// What all threads of a gate know of its fleet.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/random.hpp"
#include "claim/fleet_view.hpp"
#include "claim/gate_session.hpp"
#include "config/config.hpp"
#include "core/synchronization.hpp"
#include "fleet/fleet_metrics.hpp"
#include "fleet/store_keys.hpp"
#include "fleet/store_text.hpp"
#include "redis/redis_client.hpp"
#include "redis/redis_shared.hpp"

namespace seriesgate {

/// How long an answer of the store is waited for where no request waits: a busy store is not away.
inline constexpr std::chrono::seconds answer_patience{2};

/// Threads: any.
class fleet_shared {
  public:
    const shared_config& settings;
    const gate_identity who;
    fleet_metrics& metrics;
    redis_shared store;
    const redis_script calls;
    const redis_script gates;  ///< heartbeats, and reads of the feed
    const store_keys keys;
    const std::uint64_t run;  ///< tells this run of this gate from all others
    fleet_view view;
    struct gates_of_fleet {
        std::vector<gate_heard_of> all;
        monotonic_clock::time_point as_of;
    };
    guarded<gates_of_fleet> members{};          ///< by the last heartbeat
    guarded<std::string> server{};              ///< run_id of the one that has answered last
    std::atomic<std::uint64_t> told_rounds{0};  ///< times that nothing was found untold
    /// The series that the fleet has admitted have yet to be read for the first time.
    std::atomic<bool> catches_up{true};

    /// What is passed outlives this. Throws as redis_shared.
    fleet_shared(const shared_config& shared, gate_identity self, fleet_metrics& counted)
        : settings(shared),
          who(std::move(self)),
          metrics(counted),
          store(shared.store),
          calls(std::string{store_script}),
          gates(std::string{gate_script}),
          keys(shared.name_space),
          run(random_number()) {}

    [[nodiscard]] static gate_session::clocks clocks() noexcept {
        return {.steady = monotonic_clock::now(), .own = wall_clock::now()};
    }
    /// The time by which requests are decided.
    [[nodiscard]] time_point now() const noexcept { return view.clock.now(monotonic_clock::now(), wall_clock::now()); }
    /// How far the store's clock is before this gate's own; 0 until it has been heard.
    [[nodiscard]] std::chrono::nanoseconds clock_offset() const noexcept {
        return view.clock.offset(monotonic_clock::now(), wall_clock::now());
    }

    /// What a call says of this gate. @param described store_questions or untold_walker.
    template <class Described>
    [[nodiscard]] gate_terms terms_of(const Described& described) const {
        gate_terms made{.gate = who.name, .run = run, .clock = wall_clock::now()};
        described.describe(made);
        view.describe(made);
        return made;
    }

    /// An answer to a call.
    void hear(const open_windows& open) {
        view.hear(open);
        const auto at = clocks();
        static_cast<void>(view.clock.correct(open.now, open.hour, at.steady, at.own));  // heartbeats say if it is wrong
    }

    [[nodiscard]] std::string server_now() { return *server.lock(); }

    /// Whether the store is there, and the fleet's series have yet to be read from it. Until then requests would ask
    /// about most of their series.
    [[nodiscard]] bool is_catching_up() const noexcept { return catches_up && view.is_reachable(); }
};

/// What /metrics says of a gate in a fleet.
void write(exposition& out, fleet_shared& of);

/// As /stats and /metrics have it.
[[nodiscard]] const char* name_of(store_reach state) noexcept;

}  // namespace seriesgate
