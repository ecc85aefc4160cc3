/// How a simulated gate asks its store: fleet/claimer.cpp, fleet/teller.cpp and ingest/ingestor.cpp, call by call.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "claim/rule_terms.hpp"
#include "claim/simulated_gate.hpp"
#include "claim/simulated_share_taking.hpp"

namespace seriesgate::testing {

/// Refers to the gate, and keeps nothing.
class simulated_asking {
    simulated_gate& gate_;

  public:
    static constexpr int hours_asked_max = 3;

    /// What an answer leads to.
    enum class progress : std::uint8_t { asks, answered, closed, unanswered };

    explicit simulated_asking(simulated_gate& gate) : gate_(gate) {}

    /// Looks up, sets aside and asks, as planner::ask and claimer::ask. @return whether there is something to send.
    bool ask(simulated_request& request, time_point now) {
        start(request);
        series_limiter& limiter = *gate_.limiter;
        limiter.lookup(request.offered, gate_.clock(now), request.verdicts, request.open);
        request.pending.clear();
        request.at_once.clear();
        request.aside.clear();
        request.unasked.clear();
        if (!request.open.pending.empty() || !request.open.followers.empty()) {
            if (!limiter.select(request.offered, request.open, origin(request)))
                throw std::logic_error{"too much work"};
            set_aside(request);
            known_counts counted = gate_.counted(now);
            counted.knows = [&limiter](std::uint64_t series) { return limiter.hour_has(series); };
            request.asked.ask(
                request.offered, request.open, gate_.world().tenants[request.tenant],
                [&limiter](std::uint64_t series) { return limiter.knows(series); }, counted);
            request.pending = request.open.pending;
            if (request.asked.unasked_count() != 0) note_unasked(request);
        }
        request.answers.assign(request.asked.claims().size(), std::nullopt);
        return begin_claim(request, {});
    }

    /// As teller::tell. @return whether there is something to send: else there is nothing left to tell, or it is to be
    /// tried again.
    bool tell(simulated_telling& telling) {
        const std::size_t its_rule = telling.rule;
        const std::uint64_t its_reloads = telling.reloads;
        start(telling);
        telling.rule = its_rule;
        telling.reloads = its_reloads;
        if (!telling.one.owed) gate_.untold.keep_untold(telling.one);
        if (telling.one.open.pending.empty()) return false;
        telling.asked.ask(telling.one.series, telling.one.open, telling.one.tenant, [](std::uint64_t) { return true; });
        telling.answers.assign(telling.asked.claims().size(), std::nullopt);
        return begin_claim(telling, how_told(telling));
    }
    /// Whether its hour is over for this gate, or the store is told of nothing.
    [[nodiscard]] bool is_too_late(const simulated_telling& telling, time_point now) const {
        return hour_of(gate_.clock(now)).start > telling.one.open.hour.start || gate_.wrong().untold_forgotten;
    }

    /// As claimer::ask_one.
    progress take_answer(simulated_claims& of, time_point now) {
        claim_answer said = std::move(*of.coming);
        of.coming.reset();
        if (said.status == claim_status::lost) return progress::unanswered;
        gate_.hear(said.windows, now);
        const told_as as{.accepted = of.terms.accepted, .owed = of.terms.owed};
        if (said.status == claim_status::closed) return progress::closed;
        if (said.status == claim_status::moved)
            return ++of.moves <= moves_max && begin_claim(of, as) ? progress::asks : progress::unanswered;
        gate_.heard.hear(of.current(), of.terms, said);
        of.moves = 0;
        of.answers[of.next++] = std::move(said);
        if (of.next == of.answers.size()) return progress::answered;
        return begin_claim(of, as) ? progress::asks : progress::unanswered;
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
        told said = is_closed ? request.asked.tell_nothing(gate_.without_answer) : tell_all(request);
        make_wrong(said, now);
        request.told_hour = said.hour;
        request.told_outcomes.clear();
        for (const told_series& each : said.pending) request.told_outcomes.push_back(each.outcome);
        if (owes_any(said)) owe(request, said);
        gate_.limiter->commit(request.offered, gate_.clock(now), request.verdicts, request.open, origin(request),
                              &said);
    }

    /// As teller::settle.
    void settle(simulated_telling& telling, time_point now) {
        telling.told_outcomes.assign(telling.one.series.size(), told_outcome::unasked);
        if (!telling.one.open.pending.empty()) {
            const told said = telling.asked.tell(telling.answers, told_outcome::withheld);
            for (std::size_t i = 0; i < said.pending.size(); ++i)
                telling.told_outcomes[telling.one.open.pending[i]] = said.pending[i].outcome;
            std::vector<verdict> verdicts(telling.one.series.size());
            lookup_result open = telling.one.open;
            gate_.limiter->commit(telling.one.series, gate_.clock(now), verdicts, open, {.tenant = telling.one.tenant},
                                  &said);
        }
        forget(telling);
    }

    /// As teller::forget.
    void forget(const simulated_telling& telling) {
        if (telling.one.owed)
            gate_.own_shares.settle(hour_number(telling.one.open.hour.start), telling.one.series);
        else
            gate_.untold.remove(telling.one.open.hour, telling.one.series);
    }

  private:
    static constexpr int moves_max = 3;

    struct told_as {
        bool accepted = false;
        bool owed = false;
    };
    static told_as how_told(const simulated_telling& telling) {
        return {.accepted = !telling.one.owed, .owed = telling.one.owed};
    }

    request_origin origin(simulated_request& request) const {
        return {.tenant = gate_.world().tenants[request.tenant], .labels = &request.labels};
    }

    void start(simulated_claims& of) const {
        of.rule = gate_.rule;
        of.reserve = gate_.reserve;
        of.reloads = gate_.reloads;
        of.next = 0;
        of.moves = 0;
        of.coming.reset();
        of.answers.clear();
        of.asked.start();
    }

    std::unique_ptr<simulated_telling> sender_notice_of(const simulated_request& request) const {
        auto telling = std::make_unique<simulated_telling>();
        telling->one.tenant = gate_.world().tenants[request.tenant];
        telling->rule = request.rule;
        telling->reloads = request.reloads;
        return telling;
    }

    void set_aside(simulated_request& request) {
        const std::vector<std::uint32_t> before = request.open.pending;
        auto telling = sender_notice_of(request);
        gate_.limiter->set_aside(request.offered, request.verdicts, request.open, gate_.untold, telling->one);
        auto waiting = request.open.pending.begin();
        for (const std::uint32_t each : before) {
            if (waiting != request.open.pending.end() && *waiting == each)
                ++waiting;
            else
                request.at_once.push_back(request.offered[each].fingerprint);
        }
        for (const offered_series& each : telling->one.series) request.aside.push_back(each.fingerprint);
        if (!telling->one.series.empty()) gate_.queue.push_back(std::move(telling));
    }

    /// By what it would be told if nobody answered.
    static void note_unasked(simulated_request& request) {
        const told said = request.asked.tell_nothing(told_outcome::withheld);
        for (std::size_t at = 0; at < said.pending.size(); ++at)
            if (said.pending[at].outcome == told_outcome::refused)
                request.unasked.push_back(request.offered[request.pending[at]].fingerprint);
    }

    /// @return false if there is no claim left to send, or nobody to send it to.
    bool begin_claim(simulated_claims& of, told_as as) {
        if (of.next == of.answers.size() || gate_.state != simulated_state::joined) return false;
        of.coming.reset();
        of.terms = with_reserve(of.asked.terms(), gate_.reserve);
        of.terms.accepted = as.accepted;
        of.terms.owed = as.owed;
        of.terms.buckets = gate_.buckets_of(of.terms.hour);
        of.terms.gate = gate_.number;
        if (gate_.wrong().reserve_ignored) of.terms.reserve = 0;
        if (gate_.wrong().rules_that_changed_ignored) of.terms.rules = 1;
        if (gate_.wrong().grace_cut_short) of.terms.grace = 1;
        return true;
    }

    // --- shares

    /// As claimer::tell.
    told tell_all(simulated_request& request) {
        if (gate_.reserve == 0) return request.asked.tell(request.answers, gate_.without_answer);
        const std::int64_t hour = request.asked.terms().hour;
        const auto besides = [&](std::uint64_t fingerprint, std::span<const claimed_budget* const> budgets,
                                 bool is_answered) {
            return out_of_share(gate_, {.fingerprint = fingerprint, .budgets = budgets, .hour = hour}, !is_answered);
        };
        return request.asked.tell(request.answers, gate_.without_answer, besides);
    }

    void owe(const simulated_request& request, const told& said) {
        auto telling = sender_notice_of(request);
        set_aside_owed(request.offered, request.open, said, telling->one);
        gate_.queue.push_back(std::move(telling));
    }

    void make_wrong(told& said, time_point now) const {
        const mutants& wrong = gate_.wrong();
        if (wrong.late_answers_inserted) said.hour = gate_.limiter->time().in_force(gate_.clock(now))->hour_span;
        for (told_series& each : said.pending) {
            if (each.outcome != told_outcome::withheld && each.outcome != told_outcome::let_pass) continue;
            static constexpr heard_budget global{};
            if (wrong.timeouts_remembered)
                each = {.outcome = told_outcome::refused, .heard = {&global, 1}};
            else if (wrong.own_counts_decide)
                each.outcome = told_outcome::taken;
        }
    }
};

}  // namespace seriesgate::testing
