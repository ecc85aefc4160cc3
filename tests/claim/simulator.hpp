/// A fleet in one thread and one seed: gates with one store, whatever happens between them.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "claim/simulated_faults.hpp"
#include "claim/simulated_fleet.hpp"
#include "claim/simulated_traffic.hpp"

namespace seriesgate::testing {

/// Two to five gates of limiters that ask a store by claims, and tell it of incumbents that they have accepted at once.
/// Requests are lost, repeated and late at every point; gates are killed, cut off and reloaded; clocks are wrong; the
/// store loses its last writes, or all, or is two for a while. Throws a violation as soon as something does not hold
/// that must.
class simulation {
    simulated_fleet fleet_;
    simulated_traffic traffic_{fleet_};
    simulated_faults faults_{fleet_};

  public:
    explicit simulation(std::uint64_t seed, const mutants& wrong = {}) : fleet_(seed, wrong) {}

    void run(std::uint64_t steps) {
        for (; fleet_.step < steps; ++fleet_.step) {
            happen();
            check();
        }
        come_to_rest();
    }

    [[nodiscard]] std::uint64_t step() const { return fleet_.step; }
    [[nodiscard]] const happenings& seen() const { return fleet_.checks.seen; }

  private:
    void happen() {
        const std::uint64_t what = fleet_.random.below(100);
        if (what == 0 && fleet_.random.one_in(5)) {
            begin_day();
        } else if (what < 30) {
            traffic_.begin_request();
        } else if (what < 90) {
            traffic_.go_on();
        } else if (what < 97) {
            faults_.pass_time();
        } else {
            faults_.go_wrong();
        }
    }

    /// Series flow in a day's last hours, perhaps after other limits. In the next one's first hour gates accept them at
    /// once; one of them is killed before it has told of any.
    void begin_day() {
        using namespace std::chrono;
        const time_point midnight{floor<days>(fleet_.now) + days{1}};
        for (const int before : {8, 4, 2, 1}) {
            if (fleet_.now >= midnight - hours{before}) continue;
            sleep_until(midnight - hours{before} + minutes{30});
            if (fleet_.random.one_in(2)) traffic_.begin_request();
            if (before >= 4 || fleet_.random.one_in(2)) faults_.reload_all();
            faults_.beat_all();
            for (std::size_t i = 0; i < fleet_.gates.size(); ++i) pass_all(i);
        }
        sleep_until(midnight + seconds{1});
        faults_.beat_all();
        for (int opens = 0; opens < 2; ++opens) traffic_.begin_request();
        for (int goes = 0; goes < 20; ++goes) traffic_.go_on();
        faults_.beat_all();  // the hour is open now
        const std::size_t number = fleet_.random.below(fleet_.gates.size());
        pass_all(number);
        fleet_.start_gate(number);
        if (fleet_.random.one_in(2)) sleep_until(midnight + hours{1} + seconds{fleet_.random.below(3'000)});
    }

    void pass_all(std::size_t number) {
        if (!fleet_.gates[number]->reachable) return;
        for (std::size_t tenant = 0; tenant < fleet_.world.tenants.size(); ++tenant) {
            traffic_.pass(number, tenant);
            check();
        }
    }

    void check() { fleet_.checks.check(fleet_.gates, fleet_.servers, fleet_.now); }

    // --- the end

    /// When faults have stopped and all has been told, every gate agrees with the store about every series. After a
    /// loss that is so from the next hour on: in the one that is open a gate may know what the store has lost, and
    /// remember that it was refused what the store has room for by then.
    void come_to_rest() {
        if (fleet_.servers.is_split()) faults_.end_split();
        for (std::size_t i = 0; i < fleet_.gates.size(); ++i) {
            simulated_gate& gate = *fleet_.gates[i];
            traffic_.end_all(i);
            gate.reachable = true;
            gate.without_answer = told_outcome::withheld;
            if (fleet_.world.rules.size() > 1) gate.reload(0);
        }
        // In the grace, room for a group may become room in what groups share.
        sleep_until(std::max(fleet_.now, grace_end_of(simulated_gate::hour_number(fleet_.now))));
        recover();
        agree();
        sleep_until(time_point{hour_of(fleet_.now).end} + std::chrono::minutes{30});
        recover();
        agree();
        agree_in_all();
    }

    /// Nobody gives a sign of life meanwhile.
    void sleep_until(time_point then) {
        fleet_.now = then;
        for (const auto& gate : fleet_.gates) gate->is_troubled = true;
    }

    /// Signs of life, until nobody waits for anybody any more.
    void recover() {
        for (int beats = 0; beats < 40; ++beats) {
            fleet_.now += std::chrono::milliseconds{200};
            for (std::size_t i = 0; i < fleet_.gates.size(); ++i) {
                fleet_.beat(i);
                if (fleet_.gates[i]->state == simulated_state::joined) traffic_.tell_all(i);
                fleet_.read_feed(i);
            }
            check();
        }
        for (const auto& gate : fleet_.gates)
            require(gate->state == simulated_state::joined && (gate->queue.empty() || server().store.is_held()),
                    "a gate does not come to rest");
    }

    template <class Visit>
    void each_passed(Visit visit) {
        for (std::size_t i = 0; i < fleet_.gates.size(); ++i) fleet_.read_feed(i);
        for (std::size_t i = 0; i < fleet_.gates.size(); ++i) {
            for (std::size_t tenant = 0; tenant < fleet_.world.tenants.size(); ++tenant) {
                const auto request = traffic_.pass(i, tenant);
                check();
                for (std::size_t at = 0; at < request->offered.size(); ++at) {
                    const std::uint64_t series = request->offered[at].fingerprint;
                    if (!fleet_.world.never_shared.contains(series))
                        visit(*fleet_.gates[i], series, is_accepted(request->verdicts[at]));
                }
            }
        }
    }

    [[nodiscard]] const simulated_server& server() const { return *fleet_.servers.all().front(); }

    void agree() {
        each_passed([](const simulated_gate&, std::uint64_t, bool) {});
        for (std::size_t i = 0; i < fleet_.gates.size(); ++i) traffic_.tell_all(i);
        if (server().store.is_held()) return;  // for a gate that was killed, until the hour ends
        each_passed([this](const simulated_gate& gate, std::uint64_t series, bool is_accepted) {
            if (gate.refuses(series) && !fleet_.checks.is_unharmed(server())) return;  // before the loss, perhaps
            if (gate.is_to_tell(series, gate.hour())) return;  // the store waits for a gate that has gone
            require(is_accepted == (server().store.hour().series.contains(series) || gate.remembers(series)),
                    "when all is quiet, a gate and the store do not agree");
        });
    }

    void agree_in_all() {
        each_passed([this](const simulated_gate&, std::uint64_t series, bool is_accepted) {
            require(is_accepted == server().store.hour().series.contains(series),
                    "an hour after all is quiet, a gate and the store do not agree");
        });
    }
};

}  // namespace seriesgate::testing
