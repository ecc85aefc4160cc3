/// What must hold after every step of a simulated fleet.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "claim/given_refusals.hpp"
#include "claim/simulated_gate.hpp"
#include "claim/simulated_store.hpp"
#include "claim/simulated_world.hpp"

namespace seriesgate::testing {

/// An invariant that does not hold.
struct violation : std::logic_error {
    using std::logic_error::logic_error;
};

/// What happened, so that a simulation in which nothing does is noticed.
using happenings = std::map<std::string, std::uint64_t>;

/// Watches the store and what gates let pass, and knows nothing but what it sees. Refers to the world.
class simulation_checks {
    using series_set = std::set<std::uint64_t>;

    const simulated_world& world_;
    std::int64_t hour_ = -1;                            // that is open
    series_set open_;                                   // what has been counted in it
    std::map<std::int64_t, series_set> counted_;        // hours that have ended
    std::optional<store_model::window> before_;         // as the open hour found it
    std::map<std::uint64_t, series_set> upstream_;      // in the open hour, by budget
    std::map<std::uint64_t, std::uint64_t> newcomers_;  // counted in the open hour, by budget
    std::set<std::size_t> rules_, rules_before_;        // by which the store was asked, in this hour and the one before
    struct places {
        series_set budgets{};
        std::uint64_t opened = 0;  // those that had none in the hour before
    };
    std::map<std::pair<std::int64_t, std::uint64_t>, places> places_;  // by window and shelf
    std::vector<given_refusals> refusals_;                             // by gate

  public:
    happenings seen;

    simulation_checks(const simulated_world& world, std::size_t gates) : world_(world), refusals_(gates) {}

    /// Before and after the store has decided.
    struct moment {
        std::int64_t hour = -1;
        std::uint64_t series = 0;
        std::uint64_t counted = 0;
    };
    [[nodiscard]] static moment look(const simulated_store& store) {
        return {store.hour_number(), store.hour().series.size(), sum(store.hour())};
    }

    void decided(const claim& asked, const simulated_request& of, const claim_answer& answer, const moment& earlier,
                 const simulated_store& store) {
        note_hour(store);
        check_expected(store);
        if (answer.status != claim_status::decided) {
            ++seen[answer.status == claim_status::closed ? "closed" : "moved"];
            return;
        }
        static constexpr std::array names{"known", "taken", "refused", "unknown"};
        for (const series_answer& each : answer.series) ++seen[names[static_cast<std::size_t>(each.outcome)]];
        rules_.insert(of.rule);
        check_counts(asked, answer, earlier, store);
        check_room(asked, of, answer);
        check_incumbents(asked, of, answer);
        check_places(asked, of, store);
    }

    /// A gate has settled a request.
    void settled(std::size_t number, const simulated_request& request, const simulated_store& store) {
        for (std::size_t at = 0; at < request.pending.size(); ++at) {
            const std::uint64_t series = request.offered[request.pending[at]].fingerprint;
            const told_outcome how = request.told_outcomes[at];
            if (how == told_outcome::let_pass) ++seen["let pass"];
            if (how == told_outcome::withheld) ++seen["withheld"];
            if (how == told_outcome::unasked || how == told_outcome::let_pass) continue;
            const verdict said = request.verdicts[request.pending[at]];
            if (is_accepted(said)) flows(series, simulated_gate::hour_number(request.told_hour.start), store);
        }
        refusals_[number].note(request);
    }

    /// A series in the hour's set of its gate, at the lookup.
    void flows(std::uint64_t series, std::int64_t hour, const simulated_store& store) {
        if (world_.never_shared.contains(series)) return;
        require(counted_in(hour, store).contains(series), "a series is upstream that the store has not counted");
        if (hour != hour_) return;
        for (const claimed_budget& each : world_.budgets_of(0, series)) {
            const bool shares = each.shelf != 0 && store.hour().count(each.id) == 0;
            const std::uint64_t id = shares ? each.overflow_id : each.id;
            const simulated_world::known_budget& known = world_.budgets.at(id);
            upstream_[id].insert(series);
            if (known.is_steady)
                require(within(upstream_[id].size(), known.maxima.hourly), "more series upstream than a budget has");
        }
    }

    /// A gate has looked a request up. What was refused for the sake of incumbents is forgotten with the grace.
    void looked_up(std::size_t number, const simulated_gate& gate, const simulated_request& request,
                   const simulated_store& store, time_point now) {
        for (std::size_t i = 0; i < request.offered.size(); ++i) {
            const std::uint64_t series = request.offered[i].fingerprint;
            if (gate.refuses(series) && gate.clock(now) >= grace_end_of(gate.hour()))
                require(refusals_[number].has(gate, series, false), "a refusal of the grace is remembered after it");
            if (gate.remembers(series)) flows(series, gate.hour(), store);
        }
    }

    /// A gate has just heard in which hour the store is.
    static void asked_again(const simulated_request& request, time_point now) {
        const std::int64_t hour = simulated_gate::hour_number(now + std::chrono::seconds{5});
        require(request.terms.hour == simulated_gate::hour_number(now) || request.terms.hour == hour,
                "a gate wants another hour than the store's");
    }

    /// Whatever has happened.
    void check(const std::vector<std::unique_ptr<simulated_gate>>& gates, const simulated_store& store,
               time_point now) {
        note_hour(store);
        check_expected(store);
        for (std::size_t i = 0; i < gates.size(); ++i) check_gate(i, *gates[i], store, now);
    }

    void forget_gate(std::size_t number) { refusals_[number].forget(); }

    static void require(bool holds, const char* what) {
        if (!holds) throw violation{what};
    }

  private:
    static bool within(std::uint64_t count, std::uint64_t maximum) { return maximum == 0 || count <= maximum; }

    static bool is_same(const store_model::window& one, const store_model::window& other) {
        return one.series == other.series && one.counted == other.counted && one.mixed == other.mixed;
    }

    static std::uint64_t sum(const store_model::window& of) {
        std::uint64_t all = 0;
        for (const auto& [id, count] : of.counted) all += count;
        return all;
    }

    void note_hour(const simulated_store& store) {
        const series_set ended = std::exchange(open_, store.hour().series);
        if (store.hour_number() == hour_) return;
        counted_[hour_] = ended;
        hour_ = store.hour_number();
        ++seen["hours"];
        before_ = store.before();
        upstream_.clear();
        newcomers_.clear();
        rules_before_ = std::exchange(rules_, {});
        while (counted_.size() > 100) counted_.erase(counted_.begin());
    }

    [[nodiscard]] series_set counted_in(std::int64_t hour, const simulated_store& store) const {
        if (hour == hour_) return store.hour().series;
        const auto ended = counted_.find(hour);
        return ended == counted_.end() ? series_set{} : ended->second;
    }

    void check_expected(const simulated_store& store) const {
        if (before_) require(is_same(*before_, *store.before()), "what is expected has changed in an open hour");
    }

    /// Calls with each series that was to be decided, its run and its answer.
    template <class Visit>
    static void each_asked(const claim& asked, const claim_answer& answer, Visit visit) {
        std::size_t next = 0;
        for (const claim_run& run : asked.runs)
            for (std::uint32_t i = 0; i < run.series; ++i, ++next)
                if (!run.look) visit(asked.fingerprints[next], run, answer.series[next]);
    }

    static std::uint64_t filed_under(const claim& asked, const claim_answer& answer, std::uint8_t place) {
        return answer.budgets[place].shares ? asked.budgets[place].overflow_id : asked.budgets[place].id;
    }

    /// All or nothing: what is taken is counted once in each budget, and nothing else is.
    void check_counts(const claim& asked, const claim_answer& answer, const moment& earlier,
                      const simulated_store& store) {
        std::uint64_t series = earlier.hour == hour_ ? earlier.series : 0;
        std::uint64_t counted = earlier.hour == hour_ ? earlier.counted : 0;
        each_asked(asked, answer, [&](std::uint64_t, const claim_run& run, const series_answer& is) {
            if (is.outcome != claim_outcome::taken) return;
            ++series;
            counted += run.budgets.size();
        });
        require(store.hour().series.size() == series, "series have been counted that were not taken");
        require(sum(store.hour()) == counted, "budgets have counted what was not taken");
    }

    void check_room(const claim& asked, const simulated_request& of, const claim_answer& answer) {
        for (std::uint8_t place = 0; place < asked.budgets.size(); ++place) {
            const budget_answer& is = answer.budgets[place];
            const series_maxima maxima = world_.budgets.at(filed_under(asked, answer, place)).maxima;
            const std::uint64_t kept = is.awaited == all_awaited ? 0 : is.awaited;
            if (is.awaited == all_awaited) ++seen["all awaited"];
            if (kept != 0) ++seen["awaited"];
            if (is.shares) ++seen["shares"];
            require(within(is.hourly + kept, maxima.hourly), "an hour's budget is over its limit");
            require(within(is.daily + (of.terms.hour % 24 == 0 ? kept : 0), maxima.daily),
                    "a day's budget is over its limit");
        }
    }

    /// While everyone counts by the same rules in an hour, room is kept for those of the hour before.
    void check_incumbents(const claim& asked, const simulated_request& of, const claim_answer& answer) {
        each_asked(asked, answer, [&](std::uint64_t series, const claim_run& run, const series_answer& is) {
            const bool incumbent = before_ && before_->series.contains(series);
            if (is.outcome == claim_outcome::taken) {
                if (incumbent) ++seen["returned"];
                for (const std::uint8_t place : run.budgets)
                    if (!incumbent) ++newcomers_[filed_under(asked, answer, place)];
            }
            if (is.outcome != claim_outcome::refused) return;
            if (is.window == refusing_window::daily) ++seen["by the day"];
            if (!incumbent || !was_in_grace(answer)) return;
            ++seen["incumbents refused"];
            require(world_.changes != rule_changes::none, "an incumbent is refused in the grace");
            const std::uint64_t by = filed_under(asked, answer, is.budget);
            const bool one_rule = world_.changes == rule_changes::rules
                                      ? rules_ == std::set{of.rule}
                                      : rules_ == std::set{of.rule} && rules_before_ == rules_;
            require(!one_rule || is.window == refusing_window::daily || newcomers_[by] == 0,
                    "newcomers have the room of an incumbent");
        });
    }

    /// Groups and tenants have budgets of their own as far as there are places.
    void check_places(const claim& asked, const simulated_request& of, const simulated_store& store) {
        if (world_.changes == rule_changes::rules) return;
        const std::int64_t window = of.terms.with_day ? hour_ / 24 : hour_;
        for (const claimed_budget& each : asked.budgets) {
            const simulated_world::known_budget& known = world_.budgets.at(each.id);
            if (known.shelf == 0 || store.hour().count(each.id) == 0) continue;
            auto& [all, opened] = places_[{window, known.shelf}];
            const bool had_place = before_ && before_->count(each.id) != 0;
            if (all.insert(each.id).second && !had_place) ++opened;
            require(opened <= known.places_max, "more budgets have been opened than there are places");
        }
        while (places_.size() > 50) places_.erase(places_.begin());
    }

    void check_gate(std::size_t number, const simulated_gate& gate, const simulated_store& store, time_point now) {
        if (gate.joined)
            require(simulated_gate::hour_number(gate.clock(now)) <= gate.heard_hour,
                    "an hour has begun that the store has not been heard in");
        for (const simulated_series& each : world_.series) {
            const std::uint64_t series = each.fingerprint;
            if (!world_.never_shared.contains(series) && gate.remembers(series))
                require(counted_in(gate.hour(), store).contains(series), "a gate knows what the store does not");
            if (!gate.refuses(series)) continue;
            ++seen["remembered refusals"];
            require(refusals_[number].has(gate, series, true), "a refusal is remembered that the store did not give");
        }
    }
};

}  // namespace seriesgate::testing
