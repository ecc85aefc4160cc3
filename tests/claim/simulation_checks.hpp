/// What must hold after every step of a simulated fleet.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "claim/given_refusals.hpp"
#include "claim/simulated_gate.hpp"
#include "claim/simulated_servers.hpp"
#include "claim/store_watch.hpp"
#include "claim/upstream_watch.hpp"
#include "claim/violation.hpp"

namespace seriesgate::testing {

/// Watches the servers and what gates let pass, and knows nothing but what it sees. Refers to the world.
class simulation_checks {
    using gate_list = std::vector<std::unique_ptr<simulated_gate>>;
    using server_ptr = std::shared_ptr<simulated_server>;

    const simulated_world& world_;
    std::map<std::string, store_watch> stores_;  // by run_id
    upstream_watch upstream_;
    std::vector<given_refusals> refusals_;                     // by gate
    std::optional<upstream_watch::allowances> before_loss_;    // while the counts of some server are not whole
    std::int64_t whole_from_hour_ = -1, whole_from_day_ = -1;  // since anybody was killed who had heard counts
    std::int64_t split_until_ = -1;                            // the last hour with two masters

  public:
    happenings seen;

    simulation_checks(const simulated_world& world, std::size_t gates)
        : world_(world), upstream_(world), refusals_(gates) {}

    // --- what happens to series

    void decided(const simulated_server& at, const claim& asked, const simulated_claims& of, const claim_answer& answer,
                 const store_watch::moment& earlier) {
        watch(at).decided(asked, of, answer, earlier, at.store, seen);
        if (answer.status != claim_status::decided) return;
        store_watch::each_asked(
            asked, answer, [&](std::uint64_t series, const claim_run& run, const series_answer& is) {
                if (is.outcome != claim_outcome::taken) return;
                upstream_watch::filing as{
                    .hour = of.terms.hour, .with_day = of.terms.with_day, .series = series, .budgets = {}};
                for (const std::uint8_t place : run.budgets)
                    as.budgets.insert(store_watch::filed_under(asked, answer, place));
                upstream_.taken(as);
                if (of.terms.accepted) ++seen["told and taken"];
            });
    }

    /// A gate has settled a request.
    void settled(std::size_t number, const simulated_request& request) {
        for (std::size_t at = 0; at < request.pending.size(); ++at) {
            const std::uint64_t series = request.offered[request.pending[at]].fingerprint;
            const told_outcome how = request.told_outcomes[at];
            if (how == told_outcome::let_pass) ++seen["let pass"];
            if (how == told_outcome::withheld) ++seen["withheld"];
            if (how == told_outcome::unasked || how == told_outcome::let_pass) continue;
            if (is_accepted(request.verdicts[request.pending[at]]))
                flows(series, simulated_gate::hour_number(request.told_hour.start));
        }
        refusals_[number].note(request);
    }

    /// A gate has told of what it had accepted at once.
    void told(std::size_t number, const simulated_telling& telling) {
        const std::int64_t hour = simulated_gate::hour_number(telling.one.open.hour.start);
        for (std::size_t i = 0; i < telling.one.series.size(); ++i)
            if (telling.told_outcomes[i] == told_outcome::refused)
                upstream_.taken_back(telling.one.series[i].fingerprint, hour);
        refusals_[number].note(telling);
    }

    /// A gate will not tell of it any more.
    void dropped(const simulated_gate& gate, const simulated_telling& telling) {
        const std::int64_t hour = simulated_gate::hour_number(telling.one.open.hour.start);
        ++seen["told too late"];
        for (const offered_series& each : telling.one.series)
            require(gate.heard_hour > hour || gate.server->store.hour_number() != hour ||
                        upstream_.is_counted(each.fingerprint, hour),
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
            require(gate.has_untold(series, hour), "a series is upstream that nobody counts");
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
        whole_from_hour_ = hour_opened(now) + 1;
        whole_from_day_ = hour_opened(now) / 24 + 1;
    }

    /// The counts of this server may not be whole any more.
    void lost(const simulated_server& at, time_point now) {
        if (!before_loss_) before_loss_ = upstream_.excess();
        watch(at).lost(at.store, now);
        ++seen["losses"];
    }

    void split(const simulated_server& copy, time_point now) {
        upstream_.split(copy.store);
        before_loss_ = upstream_.excess();
        watch(copy).lost(copy.store, now);
        split_until_ = never;
        ++seen["splits"];
    }
    void end_split(const simulated_server& left, time_point now) {
        upstream_.end_split();
        watch(left).lost(left.store, now);
        split_until_ = hour_opened(now);
        if (left.store.is_whole_at(left.run_id)) before_loss_.reset();
    }

    /// The counts of a server are whole again: it has them of all gates that could reach it.
    void recovered(const simulated_server& at, const gate_list& gates, bool is_split, time_point now) {
        watch(at).lost(at.store, now);
        if (!before_loss_) before_loss_ = upstream_.excess();
        bool all_well = !is_split;
        std::set<std::uint64_t> waited_for;
        for (const auto& gate : gates) {
            all_well &= !gate->is_troubled;
            if (gate->server.get() != &at) continue;
            if (!gate->is_troubled && !is_split) has_offered(*gate, at.store);
            gate->each_untold([&](std::uint64_t series, std::int64_t hour) {
                const bool is_waited_for = at.store.waits_for(hour).contains(gate->run_name);
                if (is_waited_for) waited_for.insert(series);
                require(is_waited_for || gate->is_troubled || is_split || hour < at.store.hour_number() ||
                            upstream_.is_counted(series, hour),
                        "the store does not wait for what a gate has yet to tell");
            });
        }
        if (!waited_for.empty()) ++seen["held"];
        ++seen[all_well ? "recoveries of all" : "recoveries"];
        const std::int64_t open = simulated_gate::hour_number(now);  // what was untold in one before is told no more
        upstream_.settle_loss({.store = at.store,
                               .before = *before_loss_,
                               .waited_for = waited_for,
                               .whole_from_hour = all_well ? std::max(whole_from_hour_, open) : never,
                               .whole_from_day = all_well ? std::max(whole_from_day_, open / 24) : never});
        if (!is_split) before_loss_.reset();
    }

    /// A gate has heard that its server's counts are whole, and has said all that it knew.
    void joined(const simulated_gate& gate) const {
        if (gate.heard_hour / 24 > split_until_ / 24) has_offered(gate, gate.server->store);
    }

    /// Whatever has happened.
    void check(const gate_list& gates, const simulated_servers& servers, time_point now) {
        for (const auto& each : servers.all()) watch(*each).check(each->store, now, seen);
        for (std::size_t i = 0; i < gates.size(); ++i) check_gate(i, *gates[i], now);
        if (stores_.size() <= servers.all().size() + 10) return;
        std::erase_if(stores_, [&servers](const auto& each) {
            return std::ranges::none_of(servers.all(),
                                        [&each](const auto& server) { return server->run_id == each.first; });
        });
    }

    /// Whether nothing that shows in the open hour has been lost, or counted elsewhere.
    [[nodiscard]] bool is_unharmed(const simulated_server& at) { return watch(at).is_unharmed(); }

  private:
    static constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max() / 2;

    static std::int64_t hour_opened(time_point now) {
        return simulated_gate::hour_number(now + std::chrono::seconds{5});
    }

    store_watch& watch(const simulated_server& of) { return stores_.try_emplace(of.run_id, world_).first->second; }

    /// A series in the hour's set of its gate.
    void flows(std::uint64_t series, std::int64_t hour) {
        if (world_.never_shared.contains(series)) return;
        require(upstream_.is_counted(series, hour), "a series is upstream that the store has not counted");
        upstream_.flows(series, hour);
    }

    /// An incumbent has come through without being asked about.
    void accepted(const simulated_gate& gate, std::uint64_t series, const simulated_request& request, time_point now) {
        ++seen["accepted at once"];
        const std::int64_t hour = simulated_gate::hour_number(request.open.hour.start);
        const simulated_store& store = gate.server->store;
        if (gate.is_aware() && hour == store.hour_number()) {
            require(watch(*gate.server).is_unharmed() || hour <= split_until_ + 1,
                    "a series is accepted at once after a loss");
            require(store.hour().telling.contains(gate.run_name) || now < grace_end_of(hour),
                    "a series is accepted at once, and its place is not kept");
            require(store.before() && (store.before()->series.contains(series) || world_.never_shared.contains(series)),
                    "a series is accepted at once that the store has no place for");
        }
        upstream_watch::filing as{.hour = hour, .with_day = false, .series = series, .budgets = {}};
        for (const claimed_budget& each : world_.budgets_of(request.rule, series)) {
            as.budgets.insert(each.id);
            as.with_day |= each.maxima.daily != 0;
        }
        upstream_.accepted(as, !gate.is_aware());
    }

    /// What a gate has heard, its server has counted.
    static void has_offered(const simulated_gate& gate, const simulated_store& store) {
        const count_offer all = gate.heard.grown_since(0);
        for (const offered_budget& each : all.budgets) {
            const bool in_hour = each.hourly != 0 && all.hour >= store.hour_number();
            require(!in_hour || (all.hour == store.hour_number() && store.hour().count(each.id) >= each.hourly),
                    "the store is whole and has fewer in an hour than a gate has heard");
            const bool in_day = each.daily != 0 && all.hour / 24 == store.hour_number() / 24;
            require(!in_day || (store.day() && store.day()->count(each.id) >= each.daily),
                    "the store is whole and has fewer in a day than a gate has heard");
        }
    }

    void check_gate(std::size_t number, const simulated_gate& gate, time_point now) {
        if (gate.has_heard())
            require(simulated_gate::hour_number(gate.clock(now)) <= gate.heard_hour,
                    "an hour has begun that the store has not been heard in");
        for (const simulated_series& each : world_.series) {
            const std::uint64_t series = each.fingerprint;
            if (!world_.never_shared.contains(series) && gate.remembers(series))
                require(upstream_.is_counted(series, gate.hour()), "a gate knows what no store has counted");
            if (!gate.refuses(series)) continue;
            ++seen["remembered refusals"];
            require(refusals_[number].has(gate, series, true), "a refusal is remembered that the store did not give");
        }
        check_places_of_untold(gate, now);
    }

    void check_places_of_untold(const simulated_gate& gate, time_point now) {
        const simulated_store& store = gate.server->store;
        if (!gate.is_aware() || !watch(*gate.server).is_unharmed()) return;
        gate.each_untold([&](std::uint64_t, std::int64_t hour) {
            if (hour != store.hour_number()) return;
            require(now < grace_end_of(hour) || store.hour().telling.contains(gate.run_name),
                    "a series is untold, and its place is not kept");
        });
    }
};

}  // namespace seriesgate::testing
