/// What must hold after every step of a simulated fleet.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "claim/given_refusals.hpp"
#include "claim/loss_watch.hpp"
#include "claim/simulated_gate.hpp"
#include "claim/simulated_servers.hpp"
#include "claim/violation.hpp"

namespace seriesgate::testing {

/// Watches the servers and what gates let pass, and knows nothing but what it sees. Refers to the world.
class simulation_checks {
    using gate_list = std::vector<std::unique_ptr<simulated_gate>>;

    simulated_watches all_;
    std::vector<given_refusals> refusals_;  // by gate

  public:
    loss_watch losses{all_};
    happenings& seen = all_.seen;

    simulation_checks(const simulated_world& world, std::size_t gates) : all_(world), refusals_(gates) {}
    simulation_checks(const simulation_checks&) = delete;
    simulation_checks& operator=(const simulation_checks&) = delete;

    // --- what happens to series

    void decided(const simulated_server& at, const claim& asked, const simulated_claims& of, const claim_answer& answer,
                 const store_watch::moment& earlier) {
        all_.of(at).decided(asked, of, answer, earlier, at.store, seen);
        if (answer.status != claim_status::decided) return;
        all_.upstream.claimed(of.terms.hour, of.all_rules());
        store_watch::each_asked(
            asked, answer, [&](std::uint64_t series, const claim_run& run, const series_answer& is) {
                if (is.outcome != claim_outcome::taken) return;
                upstream_watch::filing as{
                    .hour = of.terms.hour, .with_day = of.terms.with_day, .series = series, .budgets = {}};
                for (const std::uint8_t place : run.budgets)
                    as.budgets.insert(store_watch::filed_under(asked, answer, place));
                if (of.terms.owed) told_of_share(at, of, as);
                all_.upstream.taken(as);
                if (of.terms.accepted) ++seen["told and taken"];
            });
    }

    /// A gate has settled a request.
    void settled(std::size_t number, const simulated_gate& gate, const simulated_request& request) {
        const std::int64_t hour = simulated_gate::hour_number(request.told_hour.start);
        for (std::size_t at = 0; at < request.pending.size(); ++at) {
            const std::uint64_t series = request.offered[request.pending[at]].fingerprint;
            const told_outcome how = request.told_outcomes[at];
            if (how == told_outcome::let_pass) ++seen["let pass"];
            if (how == told_outcome::withheld) ++seen["withheld"];
            if (how == told_outcome::owed) shared_out(gate, request.rule, series, hour);
            if (how == told_outcome::let_pass && gate.reserve != 0)
                require(all_.upstream.is_shared_out(series, hour), "a series passes that is in no share");
            if (how == told_outcome::unasked || how == told_outcome::let_pass || how == told_outcome::owed) continue;
            if (is_accepted(request.verdicts[request.pending[at]])) flows(series, hour);
        }
        refusals_[number].note(request);
    }

    /// A gate has told of what it had accepted at once.
    void told(std::size_t number, const simulated_telling& telling) {
        const std::int64_t hour = simulated_gate::hour_number(telling.one.open.hour.start);
        for (std::size_t i = 0; i < telling.one.series.size() && !telling.one.owed; ++i)
            if (telling.told_outcomes[i] == told_outcome::refused)
                all_.upstream.taken_back(telling.one.series[i].fingerprint, hour);
        refusals_[number].note_answers(telling);
    }

    /// A gate will not tell of it any more.
    void dropped(const simulated_gate& gate, const simulated_telling& telling) {
        const std::int64_t hour = simulated_gate::hour_number(telling.one.open.hour.start);
        ++seen[telling.one.owed ? "owed too late" : "told too late"];
        for (const offered_series& each : telling.one.series)
            require(gate.heard_hour > hour || gate.server->store.hour_number() != hour ||
                        all_.upstream.is_counted(each.fingerprint, hour),
                    "what was accepted at once is not told");
    }

    /// A gate has looked a request up. What was refused for the sake of incumbents is forgotten with the grace.
    void looked_up(std::size_t number, const simulated_gate& gate, const simulated_request& request, time_point now) {
        for (const offered_series& each : request.offered) {
            const std::uint64_t series = each.fingerprint;
            if (gate.refuses(series) && gate.clock(now) >= grace_end_of(gate.hour()))
                require(refusals_[number].has(gate, series, false), "a refusal of the grace is remembered after it");
            if (gate.remembers(series)) flows(series, gate.hour());
        }
        for (const std::uint64_t series : request.aside) accepted(gate, series, request, now);
        const std::int64_t hour = simulated_gate::hour_number(request.open.hour.start);
        for (const std::uint64_t series : request.at_once)
            require(gate.is_to_tell(series, hour), "a series is upstream that nobody counts");
        for (const std::uint64_t series : request.unasked) refused_unasked(gate, series, request, now);
    }

    /// A gate has just heard in which hour the store is.
    static void asked_again(const simulated_request& request, time_point now) {
        const std::int64_t hour = simulated_gate::hour_number(now + std::chrono::seconds{5});
        require(request.terms.hour == simulated_gate::hour_number(now) || request.terms.hour == hour,
                "a gate wants another hour than the store's");
    }

    // --- what happens to gates and servers

    void killed(std::size_t number, time_point now) {
        refusals_[number].forget();
        losses.unheard(now);
    }

    /// A server has answered what share a gate has.
    /// @param rules see simulated_claims::all_rules.
    void granted(const simulated_server& by, const simulated_gate& gate, std::size_t rules,
                 const share_watch::grant& said) {
        if (said.state >= share_state::of_hour)
            ++seen[said.state == share_state::of_day ? "day's shares" : "hour's shares"];
        all_.shares.granted(by.run_id, gate.number, said);
        if (said.state < share_state::of_hour || !all_.of(by).is_unharmed()) return;
        require(all_.of(by).is_by_no_other(rules), "a share is given where others count by other rules");
        const bool is_day_harmed = !all_.of(by).is_day_unharmed() || losses.split_until() / 24 >= said.hour / 24;
        require(said.state != share_state::of_day || is_day_harmed ||
                    !all_.upstream.is_claimed_otherwise(said.hour / 24, rules),
                "a share of the day is given where others count by other rules");
    }

    /// Whatever has happened.
    void check(const gate_list& gates, const simulated_servers& servers, time_point now) {
        for (const auto& each : servers.all()) {
            all_.of(*each).check(each->store, now, seen);
            all_.shares.check(*each, all_.of(*each), now);
        }
        for (std::size_t i = 0; i < gates.size(); ++i) check_gate(i, *gates[i], now);
        if (all_.stores.size() <= servers.all().size() + 10) return;
        std::erase_if(all_.stores, [&servers](const auto& each) {
            return std::ranges::none_of(servers.all(),
                                        [&each](const auto& server) { return server->run_id == each.first; });
        });
    }

    /// Whether nothing that shows in the open hour has been lost, or counted elsewhere.
    [[nodiscard]] bool is_unharmed(const simulated_server& at) { return all_.of(at).is_unharmed(); }

  private:
    /// A series in the hour's set of its gate.
    void flows(std::uint64_t series, std::int64_t hour) {
        if (all_.world.never_shared.contains(series)) return;
        require(all_.upstream.is_counted(series, hour), "a series is upstream that the store has not counted");
        all_.upstream.flows(series, hour);
    }

    /// A newcomer has come through without an answer.
    void shared_out(const simulated_gate& gate, std::size_t rule, std::uint64_t series, std::int64_t hour) {
        ++seen["shared out"];
        all_.shares.passed(gate, rule, series, hour);
        upstream_watch::filing as{.hour = hour, .with_day = false, .series = series, .budgets = {}};
        for (const claimed_budget& each : all_.world.budgets_of(rule, series)) {
            as.budgets.insert(each.id);
            if (each.limit_budgets != 0 && !gate.heard.has_place(each.id, hour)) as.budgets.insert(each.overflow_id);
        }
        all_.upstream.shared_out(as);
    }

    /// And is counted now.
    void told_of_share(const simulated_server& at, const simulated_claims& of, const upstream_watch::filing& as) {
        ++seen["owed and taken"];
        const bool in_day = as.with_day && !all_.upstream.is_counted_in_day(as.series, as.hour);
        for (const std::uint64_t id : as.budgets) all_.shares.told(at.run_id, of.terms.gate, id, as.hour, in_day);
    }

    /// Its store would refuse it, too, or has taken it in the last second.
    void refused_unasked(const simulated_gate& gate, std::uint64_t series, const simulated_request& request,
                         time_point now) {
        ++seen["unasked"];
        const simulated_store& store = gate.server->store;
        const bool is_open = simulated_gate::hour_number(request.open.hour.start) == store.hour_number();
        // A moment ago it may have read what the other of two masters had.
        if (!gate.is_aware() || !is_open || store.hour_number() <= losses.split_until()) return;
        if (gate.is_to_tell(series, store.hour_number())) return;  // it passes
        if (store.hour().series.contains(series)) {
            // Its own it learns by answers; where these were lost, a little later.
            require(!all_.of(*gate.server).is_taken_before(now - feed_progress::fresh, series, gate.number),
                    "a series is refused unasked that is known");
            return;
        }
        if (!all_.of(*gate.server).is_unharmed()) return;
        const auto is_spent = [&](const claimed_budget& each) {
            return each.maxima.hourly != 0 &&
                   store.hour().count(each.id) >= claimed_max(each.maxima.hourly, gate.reserve);
        };
        require(std::ranges::any_of(all_.world.budgets_of(request.rule, series), is_spent),
                "a series is refused unasked that there is room for");
    }

    /// An incumbent has come through without being asked about.
    void accepted(const simulated_gate& gate, std::uint64_t series, const simulated_request& request, time_point now) {
        ++seen["accepted at once"];
        const std::int64_t hour = simulated_gate::hour_number(request.open.hour.start);
        const simulated_store& store = gate.server->store;
        if (gate.is_aware() && hour == store.hour_number()) {
            require(all_.of(*gate.server).is_unharmed() || hour <= losses.split_until() + 1,
                    "a series is accepted at once after a loss");
            require(store.hour().telling.contains(gate.run_name) || now < grace_end_of(hour),
                    "a series is accepted at once, and its place is not kept");
            require(store.before() && store.before()->series.contains(series),
                    "a series is accepted at once that the store has no place for");
        }
        upstream_watch::filing as{.hour = hour, .with_day = false, .series = series, .budgets = {}};
        for (const claimed_budget& each : all_.world.budgets_of(request.rule, series)) {
            as.budgets.insert(each.id);
            as.with_day |= each.maxima.daily != 0;
        }
        all_.upstream.accepted(as, !gate.is_aware());
    }

    void check_gate(std::size_t number, const simulated_gate& gate, time_point now) {
        if (gate.has_heard())
            require(simulated_gate::hour_number(gate.clock(now)) <= gate.heard_hour,
                    "an hour has begun that the store has not been heard in");
        for (const simulated_series& each : all_.world.series) {
            const std::uint64_t series = each.fingerprint;
            if (!all_.world.never_shared.contains(series) && gate.remembers(series))
                require(all_.upstream.is_counted(series, gate.hour()), "a gate knows what no store has counted");
            if (!gate.refuses(series)) continue;
            ++seen["remembered refusals"];
            require(refusals_[number].has(gate, series, true), "a refusal is remembered that the store did not give");
        }
        check_places_of_untold(gate, now);
    }

    void check_places_of_untold(const simulated_gate& gate, time_point now) {
        const simulated_store& store = gate.server->store;
        if (!gate.is_aware() || !all_.of(*gate.server).is_unharmed()) return;
        gate.each_untold([&](std::uint64_t, std::int64_t hour) {
            if (hour != store.hour_number()) return;
            require(now < grace_end_of(hour) || store.hour().telling.contains(gate.run_name),
                    "a series is untold, and its place is not kept");
        });
    }
};

}  // namespace seriesgate::testing
