/// A fleet in one thread and one seed: gates with one store, whatever happens between them.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "claim/simulated_gate.hpp"
#include "claim/simulated_store.hpp"
#include "claim/simulated_world.hpp"
#include "claim/simulation_checks.hpp"
#include "support/fingerprints.hpp"

namespace seriesgate::testing {

/// Two to five gates of limiters that ask a store by claims. Requests are lost, repeated and late at every point; gates
/// are killed, cut off and reloaded; clocks are wrong. Throws a violation as soon as something does not hold that must.
class simulation {
    random_numbers random_;
    mutants wrong_;
    simulated_world world_;
    simulated_store store_;
    std::vector<std::unique_ptr<simulated_gate>> gates_;
    simulation_checks checks_;
    time_point now_;
    std::uint64_t step_ = 0;
    std::size_t turn_ = 0;    // of a balancer
    std::size_t moving_ = 0;  // where a balancer sends all
    enum class balancing : std::uint8_t { sticky, in_turn, all_to_one, any } balancer_;
    std::vector<std::unique_ptr<simulated_request>> spare_;

  public:
    explicit simulation(std::uint64_t seed, const mutants& wrong = {})
        : random_(seed),
          wrong_(wrong),
          world_(random_),
          store_(wrong),
          gates_(2 + random_.below(4)),
          checks_(world_, gates_.size()),
          now_(at(20) + std::chrono::seconds{random_.below(14'400)}),
          balancer_(static_cast<balancing>(random_.below(4))) {
        for (std::size_t i = 0; i < gates_.size(); ++i) start_gate(i);
    }

    void run(std::uint64_t steps) {
        for (; step_ < steps; ++step_) {
            happen();
            checks_.check(gates_, store_, now_);
        }
        come_to_rest();
    }

    [[nodiscard]] std::uint64_t step() const { return step_; }
    [[nodiscard]] const happenings& seen() const { return checks_.seen; }

  private:
    void happen() {
        const std::uint64_t what = random_.below(100);
        if (what < 30) {
            begin_request();
        } else if (what < 90) {
            go_on();
        } else if (what < 97) {
            pass_time();
        } else {
            go_wrong();
        }
    }

    // --- requests

    std::size_t balanced(std::size_t tenant) {
        switch (balancer_) {
            case balancing::sticky:
                return tenant % gates_.size();
            case balancing::in_turn:
                return ++turn_ % gates_.size();
            case balancing::all_to_one:
                if (random_.one_in(50)) moving_ = random_.below(gates_.size());
                return moving_;
            case balancing::any:
                break;
        }
        return random_.below(gates_.size());
    }

    void begin_request() {
        const std::size_t tenant = random_.below(world_.tenants.size());
        const std::uint64_t kept = 1 + random_.below(4);
        auto request = next_request(tenant, [&](std::size_t) { return random_.below(4) < kept; });
        for (std::size_t i = 0; i < request->offered.size(); ++i) request->offered[i].admits = !random_.one_in(12);
        const std::size_t number = balanced(tenant);
        if (gates_[number]->requests.size() < 6) send(number, std::move(request));
    }

    template <class Wanted>
    std::unique_ptr<simulated_request> next_request(std::size_t tenant, Wanted wanted) {
        auto request = spare_.empty() ? std::make_unique<simulated_request>() : std::move(spare_.back());
        if (!spare_.empty()) spare_.pop_back();
        request->tenant = tenant;
        request->offered.clear();
        request->labels.entries.clear();
        request->labels.tenant = world_.tenants[tenant];
        request->hours = request->moves = 0;
        request->coming.reset();
        request->late_until = 0;
        const std::size_t first = random_.below(world_.series.size());
        for (std::size_t i = 0; i < world_.series.size(); ++i) {
            const simulated_series& each = world_.series[(first + i) % world_.series.size()];
            if (each.tenant != tenant || !wanted(i)) continue;
            request->offered.push_back({.fingerprint = each.fingerprint, .samples = 1, .admits = true});
            request->labels.entries.push_back(views_of(each.labels));
        }
        request->verdicts.assign(request->offered.size(), verdict::unknown);
        return request;
    }

    void send(std::size_t number, std::unique_ptr<simulated_request> request) {
        const bool goes_on = gates_[number]->ask(*request, now_);
        checks_.looked_up(number, *gates_[number], *request, store_, now_);
        gates_[number]->requests.push_back(std::move(request));
        if (!goes_on) finish(number, gates_[number]->requests.size() - 1);
    }

    void finish(std::size_t number, std::size_t which) {
        simulated_gate& gate = *gates_[number];
        auto request = std::move(gate.requests[which]);
        gate.requests.erase(gate.requests.begin() + static_cast<std::ptrdiff_t>(which));
        gate.settle(*request, now_);
        checks_.settled(number, *request, store_);
        spare_.push_back(std::move(request));
    }

    /// The next thing that happens to some request: its claim arrives, or the answer does, or neither.
    void go_on() {
        const auto is_busy = [](const auto& each) { return !each->requests.empty(); };
        if (std::ranges::none_of(gates_, is_busy)) return;
        std::size_t number = random_.below(gates_.size());
        while (!is_busy(gates_[number])) number = (number + 1) % gates_.size();
        simulated_gate& gate = *gates_[number];
        const std::size_t which = random_.below(gate.requests.size());
        simulated_request& request = *gate.requests[which];
        if (request.late_until > step_) return;
        if (random_.one_in(50)) {
            request.late_until = step_ + random_.below(200);
        } else if (!gate.reachable || random_.one_in(40)) {
            if (random_.one_in(3) && gate.reachable) decide(gate, request);  // the answer is lost
            finish(number, which);
        } else if (!request.coming) {
            decide(gate, request);
        } else {
            answered(number, which);
        }
    }

    void answered(std::size_t number, std::size_t which) {
        simulated_gate& gate = *gates_[number];
        simulated_request& request = *gate.requests[which];
        const bool is_fresh = request.coming->windows.now == now_;
        const int hours = request.hours;
        if (!gate.take_answer(request, now_)) return finish(number, which);
        if (request.hours == hours) return;
        checks_.looked_up(number, gate, request, store_, now_);
        if (is_fresh) checks_.asked_again(request, now_);
    }

    void decide(simulated_gate& gate, simulated_request& request) {
        const claim asked = gate.sent(request);
        for (std::uint64_t times = random_.one_in(20) ? 2 : 1; times > 0; --times) {
            const auto earlier = simulation_checks::look(store_);
            claim_answer answer = store_.decide(asked, request.terms, now_);
            checks_.decided(asked, request, answer, earlier, store_);
            if (!request.coming || random_.one_in(2)) request.coming = std::move(answer);
        }
    }

    // --- time

    void pass_time() {
        using namespace std::chrono;
        const time_point hour{floor<hours>(now_)};
        const auto some_seconds = [this](std::uint64_t most) { return seconds{1 + random_.below(most)}; };
        const std::uint64_t how = random_.below(20);
        time_point next = now_ + some_seconds(now_ < hour + minutes{10} ? 90 : 600);
        if (how < 3) next = now_ + some_seconds(1'800);
        if (how == 5) next = hour + hours{1} - seconds{8} + some_seconds(12);
        if (how == 6) next = hour + minutes{10} - seconds{3} + some_seconds(6);
        if (how == 7) next = hour + hours{1} + some_seconds(600);
        if (how == 8 && random_.one_in(4)) next = hour + hours{random_.below(30)};
        if (hour_changes(next) && world_.rules.size() > 1 && random_.one_in(4)) reload_all();
        now_ = std::max(now_, next) + nanoseconds{random_.below(1'000'000'000)};
        for (const auto& gate : gates_) {
            if (random_.one_in(2)) beat(*gate);
            if (random_.one_in(3)) gate->limiter->maintain(gate->clock(now_));
        }
    }

    [[nodiscard]] bool hour_changes(time_point next) const { return hour_of(next) != hour_of(now_); }

    void beat(simulated_gate& gate) {
        if (gate.reachable) gate.hear(now_, now_);
    }

    // --- faults

    void go_wrong() {
        const std::size_t number = random_.below(gates_.size());
        simulated_gate& gate = *gates_[number];
        const std::uint64_t what = random_.below(world_.rules.size() > 1 ? 14 : 10);
        if (what < 2) {
            gate.reachable = false;
        } else if (what < 8) {
            gate.reachable = true;
        } else if (what == 8) {
            gate.without_answer = random_.one_in(2) ? told_outcome::let_pass : told_outcome::withheld;
        } else if (what == 9) {
            if (random_.one_in(3)) start_gate(number);
        } else if (random_.one_in(2)) {
            if (random_.one_in(3)) {
                gate.reload(random_.below(world_.rules.size()));
            } else {
                reload_all();
            }
        }
    }

    void reload_all() {
        const std::size_t rule = random_.below(world_.rules.size());
        for (const auto& each : gates_) each->reload(rule);
    }

    void start_gate(std::size_t number) {
        using std::chrono::seconds;
        const std::uint64_t how = random_.below(4);
        seconds off{0};
        if (how == 1) off = seconds{random_.below(20)} - seconds{10};
        if (how == 2) off = seconds{random_.below(7'200)} - seconds{3'600};
        if (how == 3) off = std::chrono::hours{random_.below(60)} - std::chrono::hours{30};
        gates_[number] =
            std::make_unique<simulated_gate>(world_, wrong_, random_.below(world_.rules.size()), off, now_);
        checks_.forget_gate(number);
    }

    // --- the end

    /// When faults have stopped, every gate agrees with the store about every series.
    void come_to_rest() {
        for (std::size_t i = 0; i < gates_.size(); ++i) {
            simulated_gate& gate = *gates_[i];
            gate.reachable = true;
            gate.without_answer = told_outcome::withheld;
            while (!gate.requests.empty()) finish(i, gate.requests.size() - 1);
            if (world_.rules.size() > 1) gate.reload(0);
            beat(gate);
        }
        for (const bool is_last : {false, true})
            for (std::size_t i = 0; i < gates_.size(); ++i)
                for (std::size_t tenant = 0; tenant < world_.tenants.size(); ++tenant) agree(i, tenant, is_last);
    }

    void agree(std::size_t number, std::size_t tenant, bool is_last) {
        simulated_gate& gate = *gates_[number];
        const auto owned = next_request(tenant, [](std::size_t) { return true; });
        simulated_request& request = *owned;
        for (bool goes_on = gate.ask(request, now_); goes_on; goes_on = gate.take_answer(request, now_))
            decide(gate, request);
        gate.settle(request, now_);
        checks_.settled(number, request, store_);
        checks_.check(gates_, store_, now_);
        for (std::size_t i = 0; i < request.offered.size() && is_last; ++i) {
            const std::uint64_t series = request.offered[i].fingerprint;
            if (world_.never_shared.contains(series)) continue;
            simulation_checks::require(is_accepted(request.verdicts[i]) == store_.hour().series.contains(series),
                                       "when all is quiet, a gate and the store do not agree");
        }
    }
};

}  // namespace seriesgate::testing
