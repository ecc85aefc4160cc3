/// What must hold in one server of a simulated fleet's store.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "claim/given_refusals.hpp"
#include "claim/place_watch.hpp"
#include "claim/simulated_request.hpp"
#include "claim/simulated_store.hpp"
#include "claim/simulated_world.hpp"
#include "claim/violation.hpp"

namespace seriesgate::testing {

/// Knows nothing but what it sees of the store, claims and answers. Refers to the world.
class store_watch {
    using series_set = std::set<std::uint64_t>;

    const simulated_world* world_;
    std::int64_t hour_ = -1;                            // that is open
    std::optional<store_model::window> before_;         // as the open hour found it
    std::map<std::uint64_t, std::uint64_t> newcomers_;  // counted in the open hour, by budget
    std::set<std::size_t> rules_, rules_before_;        // by which it was asked, in this hour and the one before
    struct taking {
        time_point at{};
        std::uint64_t by = 0;
    };
    std::map<std::uint64_t, taking> taken_;  // series of the open hour
    std::int64_t lossy_until_ = -1;          // the last hour in which a loss shows
    place_watch places_;

  public:
    explicit store_watch(const simulated_world& world) : world_(&world), places_(world) {}

    /// Before and after the store has decided.
    struct moment {
        std::int64_t hour = -1;
        std::uint64_t series = 0;
        std::uint64_t counted = 0;
    };
    [[nodiscard]] static moment look(const simulated_store& store) {
        return {store.hour_number(), store.hour().series.size(), sum(store.hour())};
    }

    /// Whether nothing that shows in the open hour, or shows how it found the hour before, has been lost.
    [[nodiscard]] bool is_unharmed() const { return hour_ > lossy_until_; }
    /// The same for the day.
    [[nodiscard]] bool is_day_unharmed() const { return hour_ / 24 > lossy_until_ / 24; }
    /// Whether all gates count by the same rules, in the open hour and in the one before.
    /// @param rules see simulated_claims::all_rules.
    [[nodiscard]] bool is_by_one_rule(std::size_t rules) const {
        return rules_ == std::set{rules} && rules_before_ == rules_;
    }
    /// The same, if anything was claimed in them at all.
    [[nodiscard]] bool is_by_no_other(std::size_t rules) const {
        const auto is_other = [rules](std::size_t each) { return each != rules; };
        return std::ranges::none_of(rules_, is_other) && (!before_ || std::ranges::none_of(rules_before_, is_other));
    }
    /// Whether a series was taken in the open hour before then, as far as this server has seen, for another run of a
    /// gate than that.
    [[nodiscard]] bool is_taken_before(time_point then, std::uint64_t series, std::uint64_t run) const {
        const auto found = taken_.find(series);
        return found != taken_.end() && found->second.at < then && found->second.by != run;
    }
    /// Incumbents of a budget that have places in the open hour, and have not come back.
    [[nodiscard]] std::uint64_t kept(const simulated_store& store, std::uint64_t id, time_point now) const {
        if (!before_ || (now >= grace_end_of(hour_) && store.hour().telling.empty())) return 0;
        const std::uint64_t expected = before_->count(id) - store_model::window::found(before_->missing, id);
        const std::uint64_t returned = store_model::window::found(store.hour().returned, id);
        return expected - std::min(expected, returned);
    }

    /// A loss, or what makes up for it: what is there from now on is what it is held to. It shows in two hours, but
    /// where nobody has heard of any count: then there is nothing to come back to.
    void lost(const simulated_store& store, time_point now) {
        if (store.hour_number() != hour_) taken_.clear();
        hour_ = store.hour_number();
        before_ = store.before();
        lossy_until_ = std::max(lossy_until_, std::max(hour_, hour_number(now)) + (hour_ < 0 ? 0 : 1));
    }

    void decided(const claim& asked, const simulated_claims& of, const claim_answer& answer, const moment& earlier,
                 const simulated_store& store, happenings& seen) {
        note_hour(store, seen);
        check_expected(store);
        if (answer.status != claim_status::decided) {
            static constexpr std::array names{"", "closed", "moved", "lost"};
            ++seen[names[static_cast<std::size_t>(answer.status)]];
            return;
        }
        static constexpr std::array names{"known", "taken", "refused", "unknown"};
        for (const series_answer& each : answer.series) ++seen[names[static_cast<std::size_t>(each.outcome)]];
        rules_.insert(of.all_rules());
        each_asked(asked, answer, [&](std::uint64_t series, const claim_run&, const series_answer& is) {
            if (is.outcome == claim_outcome::taken) taken_[series] = {.at = answer.windows.now, .by = of.terms.gate};
        });
        require(of.terms.accepted || !store.is_held(), "others are decided about before what is untold");
        check_counts(asked, answer, earlier, store);
        check_room(asked, of, answer, store, seen);
        check_incumbents(asked, of, answer, store, seen);
        if (is_day_unharmed()) places_.check(asked, of.terms, store);
    }

    /// Whatever has happened.
    void check(const simulated_store& store, time_point now, happenings& seen) {
        note_hour(store, seen);
        check_expected(store);
        check_kept(store, now);
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

  private:
    static std::int64_t hour_number(time_point of) { return simulated_gate::hour_number(of); }

    static bool is_same(const store_model::window& one, const store_model::window& other) {
        return one.series == other.series && one.counted == other.counted && one.mixed == other.mixed;
    }

    static std::uint64_t sum(const store_model::window& of) {
        std::uint64_t all = 0;
        for (const auto& [id, count] : of.counted) all += count;
        return all;
    }

    void note_hour(const simulated_store& store, happenings& seen) {
        if (store.hour_number() == hour_) return;
        hour_ = store.hour_number();
        ++seen["hours"];
        before_ = store.before();
        newcomers_.clear();
        taken_.clear();
        rules_before_ = std::exchange(rules_, {});
    }

    void check_expected(const simulated_store& store) const {
        if (before_) require(is_same(*before_, *store.before()), "what is expected has changed in an open hour");
    }

    /// Each budget has room for those who have a place and for those whose place is kept.
    void check_kept(const simulated_store& store, time_point now) const {
        if (!before_ || !is_unharmed() || world_->changes == rule_changes::rules) return;
        if (now >= grace_end_of(hour_) && store.hour().telling.empty()) return;
        for (const auto& [id, known] : world_->budgets) {
            const std::uint64_t kept = this->kept(store, id, now);
            require(is_within(store.hour().count(id) + kept, known.maxima.hourly),
                    "incumbents' room in an hour's budget is gone");
            if (hour_ % 24 == 0 && store.day())
                require(is_within(store.day()->count(id) + kept, known.maxima.daily),
                        "incumbents' room in a day's budget is gone");
        }
    }

    /// All or nothing: what is taken is counted once in each budget, and nothing else is.
    void check_counts(const claim& asked, const claim_answer& answer, const moment& earlier,
                      const simulated_store& store) const {
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

    void check_room(const claim& asked, const simulated_claims& of, const claim_answer& answer,
                    const simulated_store& store, happenings& seen) const {
        for (std::uint8_t place = 0; place < asked.budgets.size(); ++place) {
            const budget_answer& is = answer.budgets[place];
            const std::uint64_t id = filed_under(asked, answer, place);
            const simulated_world::known_budget& known = world_->budgets.at(id);
            const series_maxima maxima = known.maxima;
            const std::uint64_t awaited = is.awaited == all_awaited ? 0 : is.awaited;
            if (is.awaited == all_awaited) ++seen["all awaited"];
            if (awaited != 0) ++seen["awaited"];
            if (is.shares) ++seen["shares"];
            const std::uint64_t kept = is_unharmed() ? awaited : 0;
            require(is_within(is.hourly + kept, maxima.hourly), "an hour's budget is over its limit");
            // Series that other rules counted elsewhere yesterday may come back to more of them than the day has.
            const std::uint64_t kept_in_day = of.terms.hour % 24 == 0 && known.is_steady ? kept : 0;
            // Of who had come back in the first hour, what is lost is carried, too; and what had been, once more.
            if (store.carried(id) != 0) ++seen["carried"];
            const bool is_twice = hour_ / 24 <= lossy_until_ / 24 && seen.contains("carried");
            require(is_twice || is_within(is.daily + kept_in_day, maxima.daily), "a day's budget is over its limit");
        }
    }

    /// While everyone counts by the same rules in an hour, room is kept for those of the hour before.
    void check_incumbents(const claim& asked, const simulated_claims& of, const claim_answer& answer,
                          const simulated_store& store, happenings& seen) {
        each_asked(asked, answer, [&](std::uint64_t series, const claim_run& run, const series_answer& is) {
            const bool incumbent = before_ && before_->series.contains(series);
            if (is.outcome == claim_outcome::taken) {
                if (incumbent) ++seen["returned"];
                for (const std::uint8_t place : run.budgets) {
                    if (incumbent) continue;
                    ++newcomers_[filed_under(asked, answer, place)];
                    require(asked.budgets[place].maxima.hourly == 0 || !is_after_other_rules(of, answer),
                            "nobody knows who comes back by these rules, and a newcomer gets room");
                }
            }
            if (is.outcome != claim_outcome::refused) return;
            if (is.window == refusing_window::daily) ++seen["by the day"];
            if (of.terms.accepted) {
                ++seen["refused when told"];
                require(!is_unharmed() || !is_by_one_rule(of.all_rules()),
                        "what was accepted at once is refused when told");
            }
            if (of.terms.owed) check_owed(of, answer, is, seen);
            if (!incumbent || !was_in_grace(answer) || !is_unharmed()) return;
            ++seen["incumbents refused"];
            // What was let pass out of shares counts among what may be claimed.
            if (store.hour().owed || before_->owed) return;
            require(!world_->is_uniform(), "an incumbent is refused in the grace");
            const std::uint64_t by = filed_under(asked, answer, is.budget);
            const bool one_rule = world_->changes == rule_changes::rules ? rules_ == std::set{of.all_rules()}
                                                                         : is_by_one_rule(of.all_rules());
            require(!one_rule || is.window == refusing_window::daily || newcomers_[by] == 0,
                    "newcomers have the room of an incumbent");
        });
    }

    /// What has passed out of a share has a place there, but after an hour or day that had more than may be claimed,
    /// and where nobody knows how many come back.
    void check_owed(const simulated_claims& of, const claim_answer& answer, const series_answer& is,
                    happenings& seen) const {
        ++seen["refused when owed"];
        if (before_ && (before_->owed || before_->owed_day)) return;
        if (answer.budgets[is.budget].awaited == all_awaited) return;
        const bool is_by_day = is.window == refusing_window::daily;
        require(
            is_by_day ? !is_day_unharmed() || !world_->is_uniform() : !is_unharmed() || !is_by_one_rule(of.all_rules()),
            "what was let pass out of a share is refused when told");
    }

    /// Whether it is not known how many of the hour before count against a budget, and they may yet come back.
    [[nodiscard]] bool is_after_other_rules(const simulated_claims& of, const claim_answer& answer) const {
        const auto is_other = [&of](std::size_t all_rules) { return all_rules / 2 != of.rule; };
        return world_->changes == rule_changes::rules && before_ && is_unharmed() && was_in_grace(answer) &&
               std::ranges::any_of(rules_before_, is_other);
    }
};

}  // namespace seriesgate::testing
