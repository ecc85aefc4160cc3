/// A simulated fleet: its gates, the servers of its store, and what is watched in them.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "claim/simulated_feed.hpp"
#include "claim/simulated_gate.hpp"
#include "claim/simulated_membership.hpp"
#include "claim/simulated_servers.hpp"
#include "claim/simulated_world.hpp"
#include "claim/simulation_checks.hpp"
#include "support/fingerprints.hpp"

namespace seriesgate::testing {

struct simulated_fleet {
    random_numbers random;
    mutants wrong;
    simulated_world world;
    simulated_servers servers;
    std::vector<std::unique_ptr<simulated_gate>> gates;
    std::vector<std::unique_ptr<simulated_membership>> memberships;  ///< of the gates
    std::vector<std::unique_ptr<simulated_feed>> feeds;              ///< the same
    simulation_checks checks;
    time_point now;
    std::uint64_t step = 0;
    std::uint64_t runs = 0;  ///< of gates that have been started

    simulated_fleet(std::uint64_t seed, const mutants& what_is_wrong)
        : random(seed),
          wrong(what_is_wrong),
          world(random),
          servers(wrong, {.kept = world.feed_kept, .skips = world.feed_skips}),
          gates(2 + random.below(4)),
          memberships(gates.size()),
          feeds(gates.size()),
          checks(world, gates.size()),
          now(at(20) + std::chrono::seconds{random.below(14'400)}) {
        for (std::size_t i = 0; i < gates.size(); ++i) start_gate(i);
    }

    /// The first time, or after it has been killed.
    void start_gate(std::size_t number) {
        using std::chrono::seconds;
        if (gates[number]) checks.killed(number, now);
        const std::uint64_t how = random.below(4);
        seconds off{0};
        if (how == 1) off = seconds{random.below(20)} - seconds{10};
        if (how == 2) off = seconds{random.below(7'200)} - seconds{3'600};
        if (how == 3) off = std::chrono::hours{random.below(60)} - std::chrono::hours{30};
        const std::string name = "gate-" + std::to_string(number);
        simulated_gate::birth as{.rule = random.below(world.rules.size()),
                                 .reserve = world.mixes_reserves && random.one_in(3) ? 0 : world.reserve,
                                 .clock_off = off,
                                 .name = name,
                                 .number = ++runs,
                                 .untold_max = random.one_in(4) ? 1 + random.below(4) : 1'000,
                                 .owed_max = random.one_in(4) ? 1 + random.below(4) : 1'000,
                                 .server = servers.all()[random.below(servers.all().size())]};
        auto gate = std::make_unique<simulated_gate>(world, wrong, std::move(as), now);
        memberships[number] = std::make_unique<simulated_membership>(*gate, wrong, now);
        feeds[number] = std::make_unique<simulated_feed>(*gate, wrong);
        gates[number] = std::move(gate);
    }

    // --- signs of life

    /// The next thing that happens to what a gate asks about itself.
    void go_on_with_membership(std::size_t number) {
        simulated_gate& gate = *gates[number];
        simulated_membership& its = *memberships[number];
        if (!gate.reachable || random.one_in(its.is_amid_offer() ? 10 : 200)) {
            if (gate.reachable && its.executed_by() == nullptr && random.one_in(3)) execute(number);
            gate.is_troubled = true;
            return its.fail(now);
        }
        if (its.executed_by() == nullptr) return execute(number);
        if (is_late(number)) {
            if (its.is_beat()) return execute(number);  // another one
            gate.is_troubled = true;
            return its.fail(now);
        }
        const bool is_gone = its.executed_at <= its.executed_by()->lost_at;
        if (is_gone && now > its.executed_by()->lost_at + std::chrono::seconds{2}) return its.fail(now);
        hear(number);
    }

    /// A whole sign of life, and all that comes of it, without anything between.
    void beat(std::size_t number) {
        if (!memberships[number]->is_under_way()) memberships[number]->start_beat();
        for (int calls = 0; memberships[number]->is_under_way() && calls < 100; ++calls) {
            if (memberships[number]->executed_by() == nullptr || is_late(number)) execute(number);
            hear(number);
        }
    }

    // --- what others have taken

    /// The next thing that happens to what a gate asks of its feed.
    void go_on_with_feed(std::size_t number) {
        if (!gates[number]->reachable || random.one_in(30)) return feeds[number]->fail();
        go_on_reading(number);
    }

    /// All that there is to read, without anything between.
    void read_feed(std::size_t number) {
        feeds[number]->fail();
        do {
            go_on_reading(number);
        } while (!feeds[number]->is_idle());
    }

  private:
    [[nodiscard]] bool is_late(std::size_t number) const {
        return memberships[number]->executed_by() != nullptr && now > memberships[number]->executed_at + patience;
    }

    void go_on_reading(std::size_t number) {
        const std::uint64_t gaps = feeds[number]->gaps;
        feeds[number]->go_on(now);
        if (feeds[number]->gaps == gaps) return;
        ++checks.seen["gaps"];
        checks.losses.unheard(now);  // what is downloaded comes without counts
    }

    static constexpr std::chrono::seconds patience{2};  // as in membership.cpp

    void hear(std::size_t number) {
        simulated_gate& gate = *gates[number];
        const bool was_joined = gate.state == simulated_state::joined;
        const time_point executed_at = memberships[number]->executed_at;
        memberships[number]->hear(now);
        const bool is_there = gate.server == memberships[number]->heard_from() && executed_at > gate.server->lost_at;
        if (!was_joined && gate.state == simulated_state::joined && is_there) checks.losses.joined(gate);
    }

    void execute(std::size_t number) {
        simulated_gate& gate = *gates[number];
        simulated_server& at = *gate.server;
        servers.remember(at);
        const bool was_whole = at.store.is_whole_at(at.run_id);
        now += std::chrono::microseconds{1};  // so that no two recoveries are one
        memberships[number]->execute(now);
        if (const auto said = memberships[number]->share_said())
            checks.granted(at, gate, memberships[number]->sharing().all_rules(), *said);
        if (!was_whole && at.store.is_whole_at(at.run_id)) checks.losses.recovered(at, gates, servers.is_split(), now);
    }
};

}  // namespace seriesgate::testing
