/// What befalls a simulated fleet: time passes, and things go wrong.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "claim/simulated_fleet.hpp"

namespace seriesgate::testing {

/// Refers to the fleet.
class simulated_faults {
    simulated_fleet& fleet_;
    const std::uint64_t losses_;  // one in so many faults is one of the store; 0: none is
    time_point slow_until_;       // while a recovery may be under way, time does not leap

  public:
    explicit simulated_faults(simulated_fleet& fleet)
        : fleet_(fleet), losses_(fleet.random.one_in(2) ? 0 : 5 + fleet.random.below(30)) {
        fleet_.servers.may_be_lost = losses_ != 0;
        recovery_begins();
    }

    void pass_time() {
        using namespace std::chrono;
        if (fleet_.now < slow_until_ && is_recovering())
            return pass(fleet_.now + milliseconds{1 + random().below(300)}, 4, 5);
        const time_point hour{floor<hours>(fleet_.now)};
        const auto some_seconds = [this](std::uint64_t most) { return seconds{1 + random().below(most)}; };
        const std::uint64_t how = random().below(20);
        time_point next = fleet_.now + some_seconds(fleet_.now < hour + minutes{10} ? 90 : 600);
        if (how >= 14) next = fleet_.now + some_seconds(3);  // no longer than answers are waited for
        if (how < 3) next = fleet_.now + some_seconds(1'800);
        if (how == 5) next = hour + hours{1} - seconds{8} + some_seconds(12);
        if (how == 6) next = hour + minutes{10} - seconds{3} + some_seconds(6);
        if (how == 7) next = hour + hours{1} + some_seconds(600);
        if (how == 8 && random().one_in(4)) next = hour + hours{random().below(30)};
        const bool has_rules = fleet_.world.rules.size() > 1;
        if (hour_of(next) != hour_of(fleet_.now) && has_rules && random().one_in(4)) reload_all();
        pass(std::max(fleet_.now, next) + nanoseconds{random().below(1'000'000'000)}, 1, 2);
    }

    void go_wrong() {
        if (losses_ != 0 && random().one_in(is_any_untold() ? 2 : losses_)) return lose();
        const std::size_t number = random().below(fleet_.gates.size());
        simulated_gate& gate = *fleet_.gates[number];
        const std::uint64_t what = random().below(fleet_.world.rules.size() > 1 ? 14 : 10);
        if (what < 1) {
            gate.reachable = false;
            gate.is_troubled = true;
        } else if (what < 8) {
            gate.reachable = true;
        } else if (what == 8) {
            const bool admits = fleet_.world.reserve == 0 && random().one_in(2);
            gate.without_answer = admits ? told_outcome::let_pass : told_outcome::withheld;
        } else if (what == 9) {
            if (random().one_in(3)) fleet_.start_gate(number);
        } else if (random().one_in(2)) {
            if (random().one_in(2)) {
                gate.reload(random().below(fleet_.world.rules.size()));
            } else {
                reload_all();
            }
        }
    }

    void beat_all() {
        for (std::size_t i = 0; i < fleet_.gates.size(); ++i)
            if (fleet_.gates[i]->reachable) fleet_.beat(i);
    }

    void reload_all() {
        const std::size_t rule = random().below(fleet_.world.rules.size());
        for (const auto& each : fleet_.gates) each->reload(rule);
    }

    /// One of two masters is left.
    void end_split() {
        fleet_.servers.end_split(random().one_in(2), fleet_.now);
        const auto& left = fleet_.servers.all().front();
        fleet_.checks.losses.end_split(*left, fleet_.now);
        const bool is_whole = left->store.is_whole_at(left->run_id);
        recovery_begins();
        for (const auto& gate : fleet_.gates) {
            if (!is_whole && gate->server != left) gate->is_troubled = true;  // it comes late to that recovery
            gate->server = left;
        }
    }

  private:
    using server_ptr = std::shared_ptr<simulated_server>;

    [[nodiscard]] random_numbers& random() const { return fleet_.random; }

    /// @param beats of `of`: how many gates that are due to give a sign of life do it without delay.
    void pass(time_point next, std::uint64_t beats, std::uint64_t of) {
        fleet_.now = next;
        for (std::size_t i = 0; i < fleet_.gates.size(); ++i) {
            simulated_gate& gate = *fleet_.gates[i];
            simulated_membership& its = *fleet_.memberships[i];
            if (next > its.next_beat + std::chrono::milliseconds{500}) gate.is_troubled = true;
            if (!its.is_under_way() && its.next_beat <= next) its.start_beat();
            if (gate.reachable && its.is_under_way() && random().below(of) < beats) fleet_.beat(i);
            if (gate.reachable && random().below(of) < beats) fleet_.read_feed(i);
            if (random().one_in(3)) gate.limiter->maintain(gate.clock(fleet_.now));
        }
    }

    [[nodiscard]] bool is_recovering() const {
        return std::ranges::any_of(fleet_.gates, [](const auto& gate) {
            return gate->reachable && (gate->state != simulated_state::joined || !gate->is_aware());
        });
    }

    [[nodiscard]] bool is_any_untold() const {
        return std::ranges::any_of(fleet_.gates, [](const auto& gate) { return gate->untold.size() != 0; });
    }

    // --- the store

    void recovery_begins() {
        slow_until_ = fleet_.now + std::chrono::seconds{8};
        for (std::size_t i = 0; i < fleet_.gates.size(); ++i) {
            simulated_gate& gate = *fleet_.gates[i];
            const bool is_late = fleet_.now > fleet_.memberships[i]->next_beat + std::chrono::milliseconds{500};
            gate.is_troubled = !gate.reachable || is_late || gate.state != simulated_state::joined;
        }
    }

    void lose() {
        if (random().one_in(2)) beat_all();
        if (fleet_.servers.is_split()) return end_split();
        const std::uint64_t writes = random().below(random().one_in(2) ? 4 : 30);
        switch (random().below(5)) {
            case 0:
                fleet_.servers.flush(fleet_.now);
                break;
            case 1:
                fleet_.servers.replace_by_empty(fleet_.now);
                break;
            case 2:
            case 3:
                fleet_.servers.replace_by_copy(writes, fleet_.now);
                break;
            default:
                return split(random().one_in(2) ? 0 : writes);
        }
        const server_ptr& now = fleet_.servers.all().front();
        for (const auto& gate : fleet_.gates) gate->server = now;
        fleet_.checks.losses.lost(*now, fleet_.now);
        recovery_begins();
    }

    void split(std::size_t writes) {
        fleet_.servers.split(writes);
        const server_ptr& copy = fleet_.servers.all().back();
        fleet_.checks.losses.split(*copy, fleet_.now);
        for (const auto& gate : fleet_.gates)
            if (random().one_in(2)) gate->server = copy;
        recovery_begins();
    }
};

}  // namespace seriesgate::testing
