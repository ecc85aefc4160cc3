/// What passes through a simulated fleet's gates.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "claim/simulated_tellings.hpp"

namespace seriesgate::testing {

/// Requests, and all that goes on at gates besides. Refers to the fleet.
class simulated_traffic {
    simulated_fleet& fleet_;
    simulated_wire wire_{fleet_};
    simulated_tellings tellings_{fleet_, wire_};
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
        bool goes_on = asking(number).ask(*request, fleet_.now);
        fleet_.checks.looked_up(number, gate(number), *request, fleet_.now);
        while (goes_on) {
            wire_.decide(gate(number), *request);
            goes_on = asking(number).go_on(*request, fleet_.now);
        }
        settle(number, *request);
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
        if (which < at.tellings.size()) return tellings_.go_on(number, which);
        which -= at.tellings.size();
        if (tells(at) && which-- == 0) return tellings_.begin(number);
        if (fleet_.memberships[number]->is_under_way() && which-- == 0) return fleet_.go_on_with_membership(number);
        fleet_.go_on_with_feed(number);
    }

    /// No answer comes any more: what is under way ends, but for what is tried again.
    void end_all(std::size_t number) {
        while (!gate(number).requests.empty()) finish(number, gate(number).requests.size() - 1);
        tellings_.end_all(number);
    }

    /// Until the gate has told of all.
    void tell_all(std::size_t number) { tellings_.tell_all(number); }

  private:
    static constexpr std::size_t tellings_max = 2;

    [[nodiscard]] simulated_gate& gate(std::size_t number) const { return *fleet_.gates[number]; }
    [[nodiscard]] simulated_asking asking(std::size_t number) const { return simulated_asking{gate(number)}; }

    static bool tells(const simulated_gate& at) { return !at.queue.empty() && at.tellings.size() < tellings_max; }

    [[nodiscard]] std::size_t things_to_do(std::size_t number) const {
        const simulated_gate& at = gate(number);
        return at.requests.size() + at.tellings.size() + (tells(at) ? 1 : 0) +
               (fleet_.memberships[number]->is_under_way() ? 1 : 0) +
               (fleet_.feeds[number]->has_to_do(fleet_.now) ? 1 : 0);
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
        const bool goes_on = asking(number).ask(*request, fleet_.now);
        fleet_.checks.looked_up(number, gate(number), *request, fleet_.now);
        gate(number).requests.push_back(std::move(request));
        if (!goes_on) finish(number, gate(number).requests.size() - 1);
    }

    void settle(std::size_t number, simulated_request& request) {
        asking(number).settle(request, fleet_.now);
        fleet_.checks.settled(number, gate(number), request);
    }

    void finish(std::size_t number, std::size_t which) {
        auto request = taken_out(gate(number).requests, which);
        settle(number, *request);
        spare_.push_back(std::move(request));
    }

    void go_on_with_request(std::size_t number, std::size_t which) {
        simulated_request& request = *gate(number).requests[which];
        switch (wire_.go_on(gate(number), request)) {
            case simulated_wire::event::none:
                return;
            case simulated_wire::event::no_answer:
                return finish(number, which);
            case simulated_wire::event::answer:
                break;
        }
        const bool is_fresh = fleet_.now - request.coming->windows.now < std::chrono::milliseconds{1};
        const int hours = request.hours;
        const bool goes_on = asking(number).go_on(request, fleet_.now);
        if (request.hours != hours && request.hours != simulated_asking::hours_asked_max) {
            fleet_.checks.looked_up(number, gate(number), request, fleet_.now);
            if (is_fresh && goes_on) simulation_checks::asked_again(request, fleet_.now);
        }
        if (!goes_on) finish(number, which);
    }
};

}  // namespace seriesgate::testing
