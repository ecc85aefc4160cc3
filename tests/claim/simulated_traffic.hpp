/// What passes through a simulated fleet's gates: requests, and the claims of those and of what is told later.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "claim/simulated_fleet.hpp"

namespace seriesgate::testing {

/// Claims are lost, repeated and late at every point. Refers to the fleet.
class simulated_traffic {
    simulated_fleet& fleet_;
    std::size_t turn_ = 0;    // of a balancer
    std::size_t moving_ = 0;  // where a balancer sends all
    enum class balancing : std::uint8_t { sticky, in_turn, all_to_one, any } balancer_;
    std::vector<std::unique_ptr<simulated_request>> spare_{};

  public:
    explicit simulated_traffic(simulated_fleet& fleet)
        : fleet_(fleet), balancer_(static_cast<balancing>(fleet.random.below(4))) {}

    void begin_request() {
        const std::size_t tenant = fleet_.random.below(fleet_.world.tenants.size());
        const std::uint64_t kept = 1 + fleet_.random.below(4);
        auto request = next_request(tenant, [&](std::size_t) { return fleet_.random.below(4) < kept; });
        for (offered_series& each : request->offered) each.admits = !fleet_.random.one_in(12);
        const std::size_t number = balanced(tenant);
        if (gate(number).requests.size() < 6) send(number, std::move(request));
    }

    /// All series of a tenant, through one gate, at once.
    /// @return what has become of them.
    std::unique_ptr<simulated_request> pass(std::size_t number, std::size_t tenant) {
        auto request = next_request(tenant, [](std::size_t) { return true; });
        bool goes_on = gate(number).ask(*request, fleet_.now);
        fleet_.checks.looked_up(number, gate(number), *request, fleet_.now);
        while (goes_on) {
            decide(gate(number), *request);
            goes_on = gate(number).go_on(*request, fleet_.now);
        }
        gate(number).settle(*request, fleet_.now);
        fleet_.checks.settled(number, *request);
        return request;
    }

    /// Something happens at a gate.
    void go_on() {
        std::size_t number = fleet_.random.below(fleet_.gates.size());
        for (std::size_t i = 0; i < fleet_.gates.size() && things_to_do(number) == 0; ++i)
            number = (number + 1) % fleet_.gates.size();
        const std::size_t things = things_to_do(number);
        if (things == 0) return;
        simulated_gate& at = gate(number);
        std::size_t which = fleet_.random.below(things);
        if (which < at.requests.size()) return go_on_with_request(number, which);
        which -= at.requests.size();
        if (which < at.tellings.size()) return go_on_with_telling(number, which);
        which -= at.tellings.size();
        if (which == 0 && tells(at)) return begin_telling(number);
        fleet_.go_on_with_membership(number);
    }

    /// No answer comes any more: what is under way ends, but for what is tried again.
    void end_all(std::size_t number) {
        while (!gate(number).requests.empty()) finish(number, gate(number).requests.size() - 1);
        while (!gate(number).tellings.empty()) try_again(number, gate(number).tellings.size() - 1);
    }

    /// Until the gate has told of all.
    void tell_all(std::size_t number) {
        while (!gate(number).queue.empty()) {
            begin_telling(number);
            if (gate(number).tellings.empty()) continue;
            decide(gate(number), *gate(number).tellings.back());
            told(number, gate(number).tellings.size() - 1);
            while (!gate(number).tellings.empty()) {
                decide(gate(number), *gate(number).tellings.back());
                told(number, gate(number).tellings.size() - 1);
            }
        }
    }

  private:
    static constexpr std::size_t tellings_max = 2;

    [[nodiscard]] simulated_gate& gate(std::size_t number) const { return *fleet_.gates[number]; }

    static bool tells(const simulated_gate& at) { return !at.queue.empty() && at.tellings.size() < tellings_max; }

    [[nodiscard]] std::size_t things_to_do(std::size_t number) const {
        const simulated_gate& at = gate(number);
        return at.requests.size() + at.tellings.size() + (tells(at) ? 1 : 0) +
               (fleet_.memberships[number]->is_under_way() ? 1 : 0);
    }

    std::size_t balanced(std::size_t tenant) {
        switch (balancer_) {
            case balancing::sticky:
                return tenant % fleet_.gates.size();
            case balancing::in_turn:
                return ++turn_ % fleet_.gates.size();
            case balancing::all_to_one:
                if (fleet_.random.one_in(50)) moving_ = fleet_.random.below(fleet_.gates.size());
                return moving_;
            case balancing::any:
                break;
        }
        return fleet_.random.below(fleet_.gates.size());
    }

    template <class Wanted>
    std::unique_ptr<simulated_request> next_request(std::size_t tenant, Wanted wanted) {
        const simulated_world& world = fleet_.world;
        auto request = spare_.empty() ? std::make_unique<simulated_request>() : std::move(spare_.back());
        if (!spare_.empty()) spare_.pop_back();
        request->tenant = tenant;
        request->offered.clear();
        request->labels.entries.clear();
        request->labels.tenant = world.tenants[tenant];
        request->hours = 0;
        request->late_until = 0;
        const std::size_t first = fleet_.random.below(world.series.size());
        for (std::size_t i = 0; i < world.series.size(); ++i) {
            const simulated_series& each = world.series[(first + i) % world.series.size()];
            if (each.tenant != tenant || !wanted(i)) continue;
            request->offered.push_back({.fingerprint = each.fingerprint, .samples = 1, .admits = true});
            request->labels.entries.push_back(views_of(each.labels));
        }
        request->verdicts.assign(request->offered.size(), verdict::unknown);
        return request;
    }

    void send(std::size_t number, std::unique_ptr<simulated_request> request) {
        const bool goes_on = gate(number).ask(*request, fleet_.now);
        fleet_.checks.looked_up(number, gate(number), *request, fleet_.now);
        gate(number).requests.push_back(std::move(request));
        if (!goes_on) finish(number, gate(number).requests.size() - 1);
    }

    void finish(std::size_t number, std::size_t which) {
        auto request = taken_out(gate(number).requests, which);
        gate(number).settle(*request, fleet_.now);
        fleet_.checks.settled(number, *request);
        spare_.push_back(std::move(request));
    }

    template <class List>
    static typename List::value_type taken_out(List& from, std::size_t which) {
        typename List::value_type one = std::move(from[which]);
        from.erase(from.begin() + static_cast<std::ptrdiff_t>(which));
        return one;
    }

    // --- claims

    enum class event : std::uint8_t { none, answer, no_answer };

    /// The next thing that happens to a claim: it arrives, or its answer does, or neither.
    event go_on_with(simulated_gate& at, simulated_claims& of) {
        random_numbers& random = fleet_.random;
        if (of.late_until > fleet_.step) return event::none;
        if (random.one_in(50)) {
            of.late_until = fleet_.step + random.below(200);
            return event::none;
        }
        if (!at.reachable || random.one_in(40)) {
            if (random.one_in(3) && at.reachable && !of.coming) decide(at, of);  // the answer is lost
            return event::no_answer;
        }
        if (of.coming) return is_stale(of) ? event::no_answer : event::answer;
        decide(at, of);
        return event::none;
    }

    /// Nothing is waited for longer than the longest shared.timeout; and where a server has lost something, not until
    /// its counts are whole again.
    [[nodiscard]] bool is_stale(const simulated_claims& of) const {
        const time_point lost_at = of.answered_by->lost_at;
        if (fleet_.now > of.answered_at + std::chrono::seconds{10}) return true;
        return of.answered_at <= lost_at && fleet_.now > lost_at + std::chrono::milliseconds{500};
    }

    void decide(simulated_gate& at, simulated_claims& of) {
        const claim asked = at.sent(of);
        simulated_server& server = *at.server;
        of.terms.server = server.run_id;
        for (std::uint64_t times = fleet_.random.one_in(20) ? 2 : 1; times > 0; --times) {
            fleet_.servers.remember(server);
            const auto earlier = store_watch::look(server.store);
            claim_answer answer = server.store.decide(asked, of.terms, fleet_.now);
            fleet_.checks.decided(server, asked, of, answer, earlier);
            if (of.coming && !fleet_.random.one_in(2)) continue;
            of.coming = std::move(answer);
            of.answered_by = at.server;
            of.answered_at = fleet_.now;
        }
    }

    void go_on_with_request(std::size_t number, std::size_t which) {
        simulated_request& request = *gate(number).requests[which];
        switch (go_on_with(gate(number), request)) {
            case event::none:
                return;
            case event::no_answer:
                return finish(number, which);
            case event::answer:
                break;
        }
        const bool is_fresh = fleet_.now - request.coming->windows.now < std::chrono::milliseconds{1};
        const int hours = request.hours;
        const bool goes_on = gate(number).go_on(request, fleet_.now);
        if (request.hours != hours && request.hours != simulated_gate::hours_asked_max) {
            fleet_.checks.looked_up(number, gate(number), request, fleet_.now);
            if (is_fresh && goes_on) simulation_checks::asked_again(request, fleet_.now);
        }
        if (!goes_on) finish(number, which);
    }

    // --- what is told later

    void begin_telling(std::size_t number) {
        simulated_gate& at = gate(number);
        auto telling = taken_out(at.queue, 0);
        if (at.is_too_late(*telling, fleet_.now)) return drop(number, std::move(telling));
        const bool goes_on = at.tell(*telling);
        at.tellings.push_back(std::move(telling));
        if (goes_on) return;
        const std::size_t which = at.tellings.size() - 1;
        at.tellings[which]->answers.empty() ? told_all(number, which) : try_again(number, which);
    }

    void go_on_with_telling(std::size_t number, std::size_t which) {
        switch (go_on_with(gate(number), *gate(number).tellings[which])) {
            case event::none:
                return;
            case event::no_answer:
                return try_again(number, which);
            case event::answer:
                return told(number, which);
        }
    }

    void told(std::size_t number, std::size_t which) {
        switch (gate(number).take_answer(*gate(number).tellings[which], fleet_.now)) {
            case simulated_gate::progress::asks:
                return;
            case simulated_gate::progress::answered:
                return told_all(number, which);
            case simulated_gate::progress::closed:
                return drop(number, taken_out(gate(number).tellings, which));
            case simulated_gate::progress::unanswered:
                return try_again(number, which);
        }
    }

    void told_all(std::size_t number, std::size_t which) {
        const auto telling = taken_out(gate(number).tellings, which);
        gate(number).settle(*telling, fleet_.now);
        fleet_.checks.told(number, *telling);
    }

    void drop(std::size_t number, std::unique_ptr<simulated_telling> telling) {
        gate(number).untold.remove(telling->one.open.hour, telling->one.series);
        fleet_.checks.dropped(gate(number), *telling);
    }

    void try_again(std::size_t number, std::size_t which) {
        gate(number).queue.push_front(taken_out(gate(number).tellings, which));
    }
};

}  // namespace seriesgate::testing
