/// One gate of a simulated fleet: what a gate does between its sockets, step by step.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "claim/simulated_request.hpp"
#include "claim/simulated_world.hpp"
#include "fleet/fleet_clock.hpp"
#include "fleet/heard_counts.hpp"
#include "limit/limiter_state.hpp"
#include "limit/windows.hpp"

namespace seriesgate::testing {

/// Whether it asks its store: see fleet_state.
enum class simulated_state : std::uint8_t { joining, joined, recovering, away };

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
    std::deque<std::unique_ptr<simulated_telling>> queue{};      ///< to be told
    std::vector<std::unique_ptr<simulated_telling>> tellings{};  ///< under way
    untold_series untold;
    heard_counts heard;
    bool reachable = true;
    simulated_state state = simulated_state::joining;
    std::shared_ptr<simulated_server> server{};  ///< at the other end of its connection
    std::string name;
    std::string run_name;          ///< of this one run of it
    std::string offered_in{};      ///< the recovery that it has offered its counts in
    bool is_troubled = true;       ///< something has kept it from that
    std::int64_t heard_hour = -1;  ///< the last that the store's clock has been heard in
    std::uint64_t reloads = 0;
    told_outcome without_answer = told_outcome::withheld;

    struct birth {
        std::size_t rule = 0;
        std::chrono::seconds clock_off{};
        std::string name{};
        std::string run_name{};
        std::size_t untold_max = 0;
        std::shared_ptr<simulated_server> server{};
    };
    simulated_gate(const simulated_world& world, const mutants& wrong, birth as, time_point now)
        : world_(world),
          wrong_(wrong),
          own_clock_off_(as.clock_off),
          rule(as.rule),
          limiter(std::make_unique<series_limiter>(world.rules[as.rule], now + as.clock_off, hash_key::known_to_all(),
                                                   limit_scope::fleet)),
          untold(as.untold_max),
          server(std::move(as.server)),
          name(std::move(as.name)),
          run_name(std::move(as.run_name)) {}

    [[nodiscard]] bool has_heard() const { return heard_hour >= 0; }
    [[nodiscard]] time_point clock(time_point now) const {
        return wrong_.clock_runs_on ? now : clock_.now(steady(now), now + own_clock_off_);
    }
    [[nodiscard]] std::chrono::nanoseconds until_hour_ends(time_point now) const {
        return clock_.until_hour_ends(steady(now));
    }

    /// A beat of the gate's, or what an answer says besides.
    void hear(time_point store, time_point now) {
        clock_.hear(store, steady(now));
        heard_hour = std::max(heard_hour, hour_number(store));
    }

    void reload(std::size_t to) {
        rule = to;
        limiter->reconfigure(world_.rules[rule]);
        ++reloads;
    }

    /// Looks up, sets aside and asks, as planner::ask and claimer::ask. @return whether there is something to send.
    bool ask(simulated_request& request, time_point now) {
        start(request);
        limiter->look_up(request.offered, clock(now), request.verdicts, request.open);
        request.pending.clear();
        request.at_once.clear();
        request.aside.clear();
        if (!request.open.pending.empty() || !request.open.followers.empty()) {
            if (!limiter->select(request.open, origin(request))) throw std::logic_error{"too much work"};
            set_aside(request);
            request.asked.ask(request.offered, request.open, world_.tenants[request.tenant],
                              [this](std::uint64_t series) { return limiter->knows(series); });
            request.pending = request.open.pending;
        }
        request.answers.assign(request.asked.claims().size(), std::nullopt);
        return begin_claim(request);
    }

    /// As teller::tell. @return whether there is something to send: else this is to be tried again.
    bool tell(simulated_telling& telling) {
        const std::size_t its_rule = telling.rule;
        const std::uint64_t its_reloads = telling.reloads;
        start(telling);
        telling.rule = its_rule;
        telling.reloads = its_reloads;
        telling.asked.ask(telling.one.series, telling.one.open, telling.one.tenant, [](std::uint64_t) { return true; });
        telling.answers.assign(telling.asked.claims().size(), std::nullopt);
        return begin_claim(telling, true);
    }
    /// Whether its hour is over for this gate, or the store is told of nothing.
    [[nodiscard]] bool is_too_late(const simulated_telling& telling, time_point now) const {
        return hour_of(clock(now)).start > telling.one.open.hour.start || wrong_.untold_forgotten;
    }

    /// As it is sent.
    claim sent(const simulated_claims& of) {
        claim asked = of.current();
        if (!wrong_.groups_opened_locally) return asked;
        for (claimed_budget& each : asked.budgets) {
            auto& opened = opened_[each.shelf];
            if (each.shelf == 0 || (!opened.contains(each.id) && opened.size() >= each.places_max)) continue;
            opened.insert(each.id);
            each.shelf = 0;
        }
        return asked;
    }

    /// What an answer leads to.
    enum class progress : std::uint8_t { asks, answered, closed, unanswered };

    /// As claimer::ask_one.
    progress take_answer(simulated_claims& of, time_point now) {
        claim_answer said = std::move(*of.coming);
        of.coming.reset();
        if (said.status == claim_status::lost) return progress::unanswered;
        hear(said.windows.now, now);
        if (said.windows.hour >= buckets_hour_) {
            buckets_hour_ = said.windows.hour;
            buckets_ = said.windows.buckets;
        }
        const bool accepted = of.terms.accepted;
        if (said.status == claim_status::closed) return progress::closed;
        if (said.status == claim_status::moved)
            return ++of.moves <= moves_max && begin_claim(of, accepted) ? progress::asks : progress::unanswered;
        heard.hear(of.current(), of.terms, said);
        of.moves = 0;
        of.answers[of.next++] = std::move(said);
        if (of.next == of.answers.size()) return progress::answered;
        return begin_claim(of, accepted) ? progress::asks : progress::unanswered;
    }

    /// As ingestor::decide_in_fleet, when an answer has come. @return whether the request goes on.
    bool go_on(simulated_request& request, time_point now) {
        const progress made = take_answer(request, now);
        if (made == progress::closed) return ++request.hours < hours_asked_max && ask(request, now);
        return made == progress::asks;
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

    /// As teller::settle.
    void settle(simulated_telling& telling, time_point now) {
        const told said = telling.asked.tell(telling.answers, told_outcome::withheld);
        for (const told_series& each : said.pending) telling.told_outcomes.push_back(each.outcome);
        std::vector<verdict> verdicts(telling.one.series.size());
        undecided open = telling.one.open;
        limiter->settle(telling.one.series, clock(now), verdicts, open, {.tenant = telling.one.tenant}, &said);
        untold.remove(telling.one.open.hour, telling.one.series);
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

    /// Whether the counts of its server are whole, and it has said what it knew of them.
    [[nodiscard]] bool is_aware() const {
        return server->store.is_whole_at(server->run_id) && offered_in == server->store.since();
    }

    /// Calls with each series that it has yet to tell of, and the hour.
    template <class Visit>
    void each_untold(Visit visit) const {
        const auto in = [&visit](const simulated_telling& telling) {
            const std::int64_t hour = hour_number(telling.one.open.hour.start);
            for (const offered_series& each : telling.one.series) visit(each.fingerprint, hour);
        };
        for (const auto& each : queue) in(*each);
        for (const auto& each : tellings) in(*each);
    }
    [[nodiscard]] bool has_untold(std::uint64_t series, std::int64_t in_hour) const {
        bool found = false;
        each_untold([&](std::uint64_t one, std::int64_t hour) { found |= one == series && hour == in_hour; });
        return found;
    }

    static std::int64_t hour_number(time_point of) {
        return std::chrono::floor<std::chrono::hours>(of.time_since_epoch()).count();
    }

    static constexpr int hours_asked_max = 3;

  private:
    static constexpr int moves_max = 3;

    static fleet_clock::steady_point steady(time_point now) {
        return fleet_clock::steady_point{now.time_since_epoch()};
    }

    request_origin origin(simulated_request& request) const {
        return {.tenant = world_.tenants[request.tenant], .labels = &request.labels};
    }

    void start(simulated_claims& of) const {
        of.rule = rule;
        of.reloads = reloads;
        of.next = 0;
        of.moves = 0;
        of.coming.reset();
        of.asked.start();
    }

    void set_aside(simulated_request& request) {
        const std::vector<std::uint32_t> before = request.open.pending;
        auto telling = std::make_unique<simulated_telling>();
        telling->one.tenant = world_.tenants[request.tenant];
        telling->rule = rule;
        telling->reloads = reloads;
        limiter->set_aside(request.offered, request.verdicts, request.open, untold, telling->one);
        auto waiting = request.open.pending.begin();
        for (const std::uint32_t each : before) {
            if (waiting != request.open.pending.end() && *waiting == each)
                ++waiting;
            else
                request.at_once.push_back(request.offered[each].fingerprint);
        }
        for (const offered_series& each : telling->one.series) request.aside.push_back(each.fingerprint);
        if (!telling->one.series.empty()) queue.push_back(std::move(telling));
    }

    /// @return false if there is no claim left to send, or nobody to send it to.
    bool begin_claim(simulated_claims& of, bool accepted = false) {
        if (of.next == of.answers.size() || state != simulated_state::joined) return false;
        of.coming.reset();
        of.terms = of.asked.terms();
        of.terms.accepted = accepted;
        of.terms.buckets = of.terms.hour == buckets_hour_ ? buckets_ : bucket_counts{};
        if (wrong_.rules_that_changed_ignored) of.terms.rules = 1;
        if (wrong_.grace_cut_short) of.terms.grace = 1;
        return true;
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
