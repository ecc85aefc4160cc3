/// One gate of a simulated fleet: what a gate does between its sockets, step by step.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "claim/questions.hpp"
#include "claim/simulated_store.hpp"
#include "claim/simulated_world.hpp"
#include "fleet/fleet_clock.hpp"
#include "limit/limiter_state.hpp"
#include "limit/windows.hpp"

namespace seriesgate::testing {

/// A request on its way through a gate: what claimer.cpp and ingestor.cpp keep in their coroutines.
struct simulated_request {
    std::size_t tenant = 0;
    std::vector<offered_series> offered{};
    std::vector<verdict> verdicts{};
    undecided open{};
    questions asked{hash_key::known_to_all()};
    shown_labels labels{};
    std::size_t rule = 0;       ///< which rules it was selected by
    std::uint64_t reloads = 0;  ///< of its gate until then
    int hours = 0;              ///< it has been asked in
    int moves = 0;              ///< of the claim that is under way
    claim_terms terms{};        ///< of the claim that is under way
    std::vector<std::optional<claim_answer>> answers{};
    std::size_t next = 0;                       ///< the claim that is under way
    std::optional<claim_answer> coming{};       ///< its answer
    std::uint64_t late_until = 0;               ///< nothing happens to it before this step
    std::vector<std::uint32_t> pending{};       ///< as undecided::pending, which is used up
    std::vector<told_outcome> told_outcomes{};  ///< of pending, when it has been settled
    window_span told_hour{};                    ///< in which it was decided

    [[nodiscard]] const claim& current() const { return asked.claims()[next]; }
};

class simulated_gate {
    const simulated_world& world_;
    mutants wrong_;
    std::chrono::seconds own_clock_off_;
    fleet_clock clock_;
    std::int64_t buckets_hour_ = 0;
    bucket_counts buckets_;
    std::map<std::uint64_t, std::set<std::uint64_t>> opened_;  // by a mutant: shelf, budgets

  public:
    std::size_t rule;
    std::unique_ptr<series_limiter> limiter;
    std::vector<std::unique_ptr<simulated_request>> requests{};
    bool reachable = true;
    bool joined = false;
    std::int64_t heard_hour = -1;  ///< the last that the store's clock has been heard in
    std::uint64_t reloads = 0;
    told_outcome without_answer = told_outcome::withheld;

    simulated_gate(const simulated_world& world, const mutants& wrong, std::size_t its_rule, std::chrono::seconds off,
                   time_point now)
        : world_(world), wrong_(wrong), own_clock_off_(off), rule(its_rule) {
        limiter = std::make_unique<series_limiter>(world.rules[rule], now + off, hash_key::known_to_all(),
                                                   limit_scope::fleet);
    }

    [[nodiscard]] time_point clock(time_point now) const {
        return wrong_.clock_runs_on ? now : clock_.now(steady(now), now + own_clock_off_);
    }

    /// A beat of the gate's, or what an answer says besides.
    void hear(time_point store, time_point now) {
        clock_.hear(store, steady(now));
        heard_hour = std::max(heard_hour, hour_number(store));
        joined = true;
    }

    void reload(std::size_t to) {
        rule = to;
        limiter->reconfigure(world_.rules[rule]);
        ++reloads;
    }

    /// Looks up and asks, as planner::ask. @return whether there is something to send.
    bool ask(simulated_request& request, time_point now) {
        request.rule = rule;
        request.reloads = reloads;
        request.next = 0;
        limiter->look_up(request.offered, clock(now), request.verdicts, request.open);
        request.asked.start();
        request.pending.clear();
        if (!request.open.pending.empty() || !request.open.followers.empty()) {
            if (!limiter->select(request.open, origin(request))) throw std::logic_error{"too much work"};
            request.asked.ask(request.offered, request.open, world_.tenants[request.tenant],
                              [this](std::uint64_t series) { return limiter->knows(series); });
            request.pending = request.open.pending;
        }
        request.answers.assign(request.asked.claims().size(), std::nullopt);
        return begin_claim(request);
    }

    /// @return false if there is no claim left to send, or nobody to send it to.
    bool begin_claim(simulated_request& request) {
        if (request.next == request.answers.size() || !joined) return false;
        request.coming.reset();
        request.terms = request.asked.terms();
        request.terms.buckets = request.terms.hour == buckets_hour_ ? buckets_ : bucket_counts{};
        if (wrong_.rules_that_changed_ignored) request.terms.rules = 1;
        if (wrong_.grace_cut_short) request.terms.grace = 1;
        return true;
    }

    /// As it is sent.
    claim sent(const simulated_request& request) {
        claim asked = request.current();
        if (!wrong_.groups_opened_locally) return asked;
        for (claimed_budget& each : asked.budgets) {
            auto& opened = opened_[each.shelf];
            if (each.shelf == 0 || (!opened.contains(each.id) && opened.size() >= each.places_max)) continue;
            opened.insert(each.id);
            each.shelf = 0;
        }
        return asked;
    }

    /// As claimer::ask and ingestor::decide_in_fleet. @return whether the request goes on.
    bool take_answer(simulated_request& request, time_point now) {
        claim_answer said = std::move(*request.coming);
        request.coming.reset();
        hear(said.windows.now, now);
        if (said.windows.hour >= buckets_hour_) {
            buckets_hour_ = said.windows.hour;
            buckets_ = said.windows.buckets;
        }
        if (said.status == claim_status::closed) {
            request.moves = 0;
            return ++request.hours < hours_asked_max && ask(request, now);
        }
        if (said.status == claim_status::moved) return ++request.moves <= moves_max && begin_claim(request);
        request.moves = 0;
        request.answers[request.next++] = std::move(said);
        return begin_claim(request);
    }

    /// With whatever has been answered.
    void settle(simulated_request& request, time_point now) {
        if (request.open.is_empty()) return;
        const bool is_closed = request.hours == hours_asked_max;
        told said = is_closed ? request.asked.tell_nothing(without_answer)
                              : request.asked.tell(request.answers, without_answer);
        make_wrong(said, now);
        request.told_hour = said.hour;
        request.told_outcomes.clear();
        for (const told_series& each : said.pending) request.told_outcomes.push_back(each.outcome);
        limiter->settle(request.offered, clock(now), request.verdicts, request.open, origin(request), &said);
    }

    [[nodiscard]] bool remembers(std::uint64_t series) const {
        return limiter->state().sets.read()->hour->contains(series);
    }
    [[nodiscard]] std::optional<refusal> refuses(std::uint64_t series) const {
        return limiter->state().refused.lookup(series);
    }
    [[nodiscard]] std::int64_t hour() const {
        return hour_number(time_point{limiter->state().sets.read()->hour_span.start});
    }

    static std::int64_t hour_number(time_point of) {
        return std::chrono::floor<std::chrono::hours>(of.time_since_epoch()).count();
    }

  private:
    static constexpr int hours_asked_max = 3;
    static constexpr int moves_max = 3;

    static fleet_clock::steady_point steady(time_point now) {
        return fleet_clock::steady_point{now.time_since_epoch()};
    }

    request_origin origin(simulated_request& request) const {
        return {.tenant = world_.tenants[request.tenant], .labels = &request.labels};
    }

    void make_wrong(told& said, time_point now) const {
        if (wrong_.late_answers_inserted) said.hour = limiter->time().in_force(clock(now))->hour_span;
        for (told_series& each : said.pending) {
            if (each.outcome != told_outcome::withheld && each.outcome != told_outcome::let_pass) continue;
            static constexpr heard_budget global{};
            if (wrong_.timeouts_remembered)
                each = {.outcome = told_outcome::refused, .heard = {&global, 1}};
            else if (wrong_.own_counts_decide)
                each.outcome = told_outcome::taken;
        }
    }
};

}  // namespace seriesgate::testing
