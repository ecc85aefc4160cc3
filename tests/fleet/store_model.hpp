/// What claim.lua, telling.lua, recover.lua and shares.lua do, with sets and maps where that has keys: the
/// specification of the scripts, short and slow.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "claim/claim.hpp"
#include "claim/count_offer.hpp"
#include "claim/reserve.hpp"
#include "claim/shares.hpp"

namespace seriesgate::testing {

/// What a store could do that must not: for tests which have to notice.
struct store_mutants {
    bool any_server = false;        ///< a server that has the head is one whose counts are whole
    bool waits_for_nobody = false;  ///< a recovery ends with the first gate that has offered
    bool day_not_marked = false;    ///< nobody notes that some gate has not told of all in a day's first hour
    bool nothing_carried = false;   ///< nobody counts it in the day
    bool any_day_before = false;    ///< when a day begins, by which rules the one before was counted is not asked
};

class store_model {
  public:
    /// What one claim has taken.
    struct fed {
        std::uint64_t upto = 0;  ///< series of the hour with these
        std::uint64_t gate = 0;
        std::vector<std::uint64_t> series{};
        std::map<std::uint64_t, std::uint64_t> hourly{};  ///< of the budgets that have grown
        std::map<std::uint64_t, std::uint64_t> daily{};   ///< the same
        std::vector<std::uint64_t> families{};            ///< of histograms that have begun

        friend bool operator==(const fed&, const fed&) = default;
    };

    /// Series and counts of one hour or day.
    struct window {
        std::uint32_t buckets = 0;
        std::uint64_t rules = 0;
        bool mixed = false;  ///< gates with other rules have counted in it, too
        std::uint64_t all_rules = 0;
        bool all_mixed = false;  ///< the same of rules with their maxima
        bool shared = false;     ///< a series was counted in the overflow budget of a shelf
        /// A series was taken that had been let pass out of a share, or incumbents that had passed at once, and were
        /// more than claims can take.
        bool owed = false;
        bool owed_day = false;            ///< the same of its day, in an hour before
        std::set<std::string> telling{};  ///< gates that accept incumbents at once
        std::set<std::uint64_t> series{};
        std::set<std::uint64_t> families{};             ///< of histograms that have begun: in the sets, uncounted
        std::map<std::uint64_t, std::uint64_t> over{};  ///< those of `counted` that completed a histogram in the grace
        std::map<std::uint64_t, std::uint64_t> completed{};  ///< series taken without room, by family
        std::map<std::uint64_t, std::uint64_t> counted{};    ///< series by budget
        std::map<std::uint64_t, std::uint64_t> returned{};   ///< those of them that were incumbents, in the grace
        std::map<std::uint64_t, std::uint64_t> missing{};  ///< those of `counted` that are not in `series`: it was lost
        std::map<std::uint64_t, std::uint64_t> places{};   ///< budgets opened by shelf
        std::set<std::uint64_t> placeless{};               ///< budgets told of by who does not know their shelf
        /// Of a day: what may have passed in its first hour, by budget, and is among `counted`.
        std::map<std::uint64_t, std::uint64_t> carried{};
        bool kept_for_day = false;  ///< of a day's first hour, and the one before: kept as long as the day's record
        std::vector<fed> feed{};    ///< of an hour: all claims that have taken something

        [[nodiscard]] std::uint64_t count(std::uint64_t budget) const { return found(counted, budget); }
        static std::uint64_t found(const std::map<std::uint64_t, std::uint64_t>& in, std::uint64_t key) {
            const auto at = in.find(key);
            return at == in.end() ? 0 : at->second;
        }
    };

    store_model() = default;
    explicit store_model(store_mutants broken) : broken_(broken) {}

    claim_answer decide(const claim& asked, const claim_terms& terms, time_point now) {
        if (!is_whole(terms.server))
            return {.status = claim_status::lost,
                    .windows = {.now = now, .hour = hour_number_, .buckets = bucket_counts_now()}};
        open_windows(terms, now);
        claim_answer answer{.windows = {.now = now, .hour = hour_number_, .buckets = bucket_counts_now()}};
        if (terms.hour != hour_number_)
            answer.status = claim_status::closed;
        else if (comes_later(terms))
            answer.status = claim_status::lost;
        else if (!knows_buckets(terms, now))
            answer.status = claim_status::moved;
        else
            decide_series(asked, terms, answer);
        return answer;
    }

    /// A gate asks to be on the list of those that accept incumbents at once.
    telling_state enter(const std::string& gate, const claim_terms& terms, time_point now) {
        if (terms.hour != hour_number_ || !is_whole(terms.server)) return telling_state::not_open;
        const bool in_time = now.time_since_epoch() < start_of(terms.hour) + std::chrono::seconds{terms.grace};
        if (!before_ || !in_time || terms.hour < whole_from_) return telling_state::must_wait;
        if (before_->all_rules != terms.all_rules || before_->all_mixed || before_->shared)
            return telling_state::must_wait;
        const bool opens_day = terms.hour % 24 == 0;
        if (before_->owed || (before_->owed_day && opens_day)) return telling_state::must_wait;
        if (opens_day && terms.with_day) {
            const bool is_by_others = terms.hour - 24 < std::max(whole_from_ - 1, same_from_);
            if (is_by_others && !broken_.any_day_before) return telling_state::must_wait;
            if (!hour_.telling.contains(gate)) {
                hour_.kept_for_day = before_->kept_for_day = true;
                kept_day_ = terms.hour / 24;
            }
        }
        hour_.telling.insert(gate);
        return telling_state::listed;
    }
    /// It has told of all of them.
    telling_state leave(const std::string& gate, const claim_terms& terms) {
        if (terms.hour == hour_number_) hour_.telling.erase(gate);
        untold_[terms.hour].erase(gate);
        if (held_hour_ == terms.hour && untold_[terms.hour].empty()) held_hour_.reset();
        return telling_state::left;
    }

    /// A gate asks for its shares. @return what it has, and its number of that day
    std::pair<share_state, std::uint64_t> share(const std::string& gate, const claim_terms& terms) {
        if (terms.hour != hour_number_ || !is_whole(terms.server)) return {share_state::not_now, 0};
        const std::int64_t from = std::max(whole_from_ - 1, same_from_);
        if (last_rules_ != terms.all_rules || terms.hour < from) return {share_state::not_now, 0};
        const std::int64_t day = terms.hour / 24;
        auto& numbers = share_numbers_[day];
        if (!numbers.contains(gate)) {
            if (numbers.size() >= shares_max) return {share_state::none_left, 0};
            numbers.emplace(gate, numbers.size() + 1);
        }
        return {day * 24 >= from ? share_state::of_day : share_state::of_hour, numbers.at(gate)};
    }

    /// @param server run_id of the one that it goes to
    recovery_answer recover(const recovery_words& said, const count_offer& offer,
                            std::span<const offered_budget> budgets, const std::string& server, time_point now) {
        if (!budgets.empty()) open_offered(offer);
        if (!said.untold.name.empty()) wait_for(said.untold);
        if (!budgets.empty()) restore(offer, budgets, now);
        if (is_whole(server)) {
            if (!budgets.empty() && said.in != since_) is_not_whole(now);
            return {.is_whole = true, .since = since_};
        }
        auto waited = said.waited;
        if (!recovery_ || recovery_->server != server) {
            recovery_ = {.server = server, .since = token_of(now), .offered = {}};
            server_.reset();
            since_.clear();
        }
        const bool is_this = said.in == recovery_->since;
        if (!is_this) waited = {};
        const bool has_offered = said.is_last && (is_this || said.in.empty());
        for (const std::string& other : said.others) recovery_->offered.try_emplace(other, false);
        recovery_->offered.try_emplace(said.gate, false);
        if (has_offered) recovery_->offered[said.gate] = true;
        const bool all_have = std::ranges::all_of(recovery_->offered, [](const auto& each) { return each.second; });
        const std::string since = recovery_->since;
        const bool waits = waited < std::chrono::seconds{2} || (waited < std::chrono::seconds{5} && !all_have);
        if (broken_.waits_for_nobody ? !said.is_last : waits) return {.is_whole = false, .since = since};
        server_ = server;
        since_ = since;
        recovery_.reset();
        if (hour_number_ >= 0) is_not_whole(now);
        return {.is_whole = true, .since = since};
    }

    /// As one that has been emptied: nobody has said that its counts are whole.
    static store_model emptied() {
        store_model made;
        made.server_.reset();
        return made;
    }

    [[nodiscard]] const window& hour() const { return hour_; }
    [[nodiscard]] const std::optional<window>& before() const { return before_; }
    [[nodiscard]] const std::optional<window>& day() const { return day_; }  ///< of hour_number()
    [[nodiscard]] std::int64_t hour_number() const { return hour_number_; }

  protected:  // for simulations that break it on purpose
    static constexpr std::uint64_t infinite = all_awaited;

    struct recovery_state {
        std::string server;
        std::string since;
        std::map<std::string, bool> offered;  // by gate: whether it has
    };
    store_mutants broken_;
    std::optional<std::string> server_{""};  // whose counts are whole
    std::string since_;
    std::optional<recovery_state> recovery_;
    std::int64_t whole_from_ = 0;                           // hours in which incumbents may be accepted at once
    std::map<std::int64_t, std::set<std::string>> untold_;  // by hour: gates that are waited for
    std::optional<std::int64_t> held_hour_;                 // in which nobody else is answered

    std::optional<std::uint64_t> last_rules_;  // of the hour that claims opened last
    std::int64_t same_from_ = 0;               // from which hour on there may be shares
    std::int64_t owed_day_ = -1;               // the last with something owed
    std::map<std::int64_t, std::map<std::string, std::uint64_t>> share_numbers_;  // by day and gate

    std::int64_t hour_number_ = -1;  // that is open
    window hour_;
    std::optional<window> before_;  // if it was open until hour_ was
    std::optional<window> day_;     // of hour_number_
    std::uint64_t last_day_size_ = 0;
    std::optional<std::int64_t> kept_day_;  // of the records that are kept_for_day
    std::int64_t uncounted_day_ = -1;       // in whose first hour some gate has not told of all
    window days_first_, before_day_;        // that hour and the one before, when it ended

    /// A budget of a claim, as which it is asked.
    struct asked_budget {
        std::uint64_t id = 0;
        series_maxima maxima{};
        bool shares = false;
        bool opens = false;         // a place on its shelf, with its first series
        bool unknown_past = false;  // it had no place in the hour before, others of its shelf shared one
    };
    std::map<std::size_t, asked_budget> resolved_;  // by place in the claim
    bool in_grace_ = false;

    // --- what was lost

    [[nodiscard]] bool is_whole(const std::string& server) const {
        return server_ && (broken_.any_server || *server_ == server);
    }

    static std::string token_of(time_point now) {
        const auto whole = std::chrono::floor<std::chrono::seconds>(now);
        const auto rest = std::chrono::duration_cast<std::chrono::microseconds>(now - whole);
        return std::to_string(whole.time_since_epoch().count()) + "." + std::to_string(rest.count());
    }

    [[nodiscard]] bool is_held() const { return held_hour_ == hour_number_; }
    [[nodiscard]] bool comes_later(const claim_terms& terms) const {
        return is_held() && (!terms.accepted || terms.owed);
    }

    void wait_for(const untold_series_of& gate) {
        if (gate.hour < std::max(hour_number_, held_hour_.value_or(-1))) return;
        untold_[gate.hour].insert(gate.name);
        held_hour_ = gate.hour;
    }

    void is_not_whole(time_point now) {
        const auto clock = std::chrono::floor<std::chrono::hours>(now).time_since_epoch().count();
        whole_from_ = std::max<std::int64_t>(whole_from_, std::max<std::int64_t>(hour_number_, clock) + 2);
    }

    [[nodiscard]] bool is_in_day(const count_offer& offer) const {
        return offer.buckets.day != 0 && offer.hour / 24 == hour_number_ / 24;
    }

    void open_offered(const count_offer& offer) {
        if (offer.hour > hour_number_) {
            begin_hour(offer.hour, offer.buckets.day != 0,
                       {.buckets = offer.buckets.hour, .rules = offer.rules, .all_mixed = true});
            same_from_ = offer.hour + 2;  // by which rules others claim in it is not seen
        }
        if (is_in_day(offer) && !day_)
            day_ = window{.buckets = offer.buckets.day, .rules = offer.rules, .all_mixed = true};
    }

    void restore(const count_offer& offer, std::span<const offered_budget> budgets, time_point now) {
        const bool in_hour = offer.hour == hour_number_;
        const bool in_day = is_in_day(offer);
        if (!in_hour && !in_day) return;
        window& at = in_day ? *day_ : hour_;
        for (const offered_budget& each : budgets) {
            const std::uint64_t hourly = in_hour ? hour_.count(each.id) : 0;
            const std::uint64_t before = in_hour && before_ ? before_->count(each.id) : 0;
            const std::uint64_t daily = in_day ? day_->count(each.id) : 0;
            const bool more_hourly = in_hour && each.hourly > hourly;
            const bool more_daily = in_day && each.daily > daily;
            if (more_hourly) {
                hour_.missing[each.id] += each.hourly - hourly;
                hour_.counted[each.id] = each.hourly;
                if (hour_.rules != offer.rules) hour_.mixed = true;
            }
            if (more_hourly || more_daily) is_not_whole(now);
            if (more_daily) day_->counted[each.id] = each.daily;
            const bool is_new = hourly + before + daily == 0 && (more_hourly || more_daily);
            if (each.limit_budgets == 0 && is_new) at.placeless.insert(each.id);
            if (each.limit_budgets != 0 && (at.placeless.erase(each.id) != 0 || is_new))
                ++at.places[each.limit_budgets];
        }
    }

    /// What was awaited when a day's first hour ended may have passed: the day keeps its places.
    /// @param with_day whether the day is limited, as far as the one says who opens the next hour.
    void end_days_first(std::int64_t next, bool with_day) {
        const std::int64_t day = next / 24;
        if (next == day * 24) return;
        const bool is_limited = with_day || (day_ && hour_number_ / 24 == day);
        if (held_hour_ == day * 24 && hour_number_ <= day * 24 && is_limited) {
            uncounted_day_ = day;
            kept_day_.reset();
        } else if (hour_number_ == day * 24 && !hour_.telling.empty() && kept_day_ == day) {
            uncounted_day_ = day;
            days_first_ = hour_;
            before_day_ = *before_;
        }
    }

    void begin_hour(std::int64_t hour, bool with_day, window begun) {
        if (!broken_.day_not_marked) end_days_first(hour, with_day);
        if (hour / 24 != hour_number_ / 24 && day_) {
            last_day_size_ = day_->series.size();
            day_.reset();
        }
        before_ = hour == hour_number_ + 1 && hour_.buckets != 0 ? std::optional{hour_} : std::nullopt;
        hour_ = std::move(begun);
        hour_number_ = hour;
    }

    // --- windows

    static std::chrono::seconds start_of(std::int64_t hour) { return std::chrono::hours{hour}; }

    void open_windows(const claim_terms& terms, time_point now) {
        const auto clock = now.time_since_epoch();
        const bool in_time =
            clock >= start_of(terms.hour) - std::chrono::seconds{5} && clock < start_of(terms.hour + 1);
        if (terms.hour > hour_number_ && in_time) {
            const std::uint32_t buckets = buckets_for(hour_.series.size(), terms.room);
            if (last_rules_ != terms.all_rules) same_from_ = hour_number_ < 0 ? 0 : terms.hour + 1;
            last_rules_ = terms.all_rules;
            begin_hour(terms.hour, terms.with_day,
                       {.buckets = buckets,
                        .rules = terms.rules,
                        .all_rules = terms.all_rules,
                        .owed_day = owed_day_ == terms.hour / 24});
        }
        if (terms.hour == hour_number_ && terms.with_day && !day_ && !comes_later(terms))
            day_ = window{.buckets = buckets_for(last_day_size_, terms.day_room),
                          .rules = terms.rules,
                          .all_rules = terms.all_rules};
    }

    static std::uint32_t buckets_for(std::size_t last, std::uint64_t room) {
        const double room_for = static_cast<double>(room == 0 ? 1 << 20 : std::min<std::uint64_t>(room, 16 << 20));
        const double series = std::max(static_cast<double>(last) * 1.25, room_for);
        std::uint32_t buckets = 1;
        while (buckets < 1u << 20 && buckets * 256.0 < series) buckets *= 2;
        return buckets;
    }

    [[nodiscard]] bucket_counts bucket_counts_now() const {
        return {.hour = hour_.buckets, .day = day_ ? day_->buckets : 0, .before = before_ ? before_->buckets : 0};
    }

    [[nodiscard]] bool knows_buckets(const claim_terms& terms, time_point now) {
        const bool in_time = now.time_since_epoch() < start_of(terms.hour) + std::chrono::seconds{terms.grace};
        in_grace_ = before_ && (in_time || !hour_.telling.empty());
        return terms.buckets.hour == hour_.buckets && (!terms.with_day || terms.buckets.day == day_->buckets) &&
               (!in_grace_ || terms.buckets.before == before_->buckets);
    }

    // --- series

    void decide_series(const claim& asked, const claim_terms& terms, claim_answer& answer) {
        if (terms.rules != hour_.rules) hour_.mixed = true;
        if (terms.all_rules != hour_.all_rules && !std::exchange(hour_.all_mixed, true)) same_from_ = terms.hour + 2;
        resolved_.clear();
        if (terms.with_day) carry(asked, terms);
        const auto hourly_then = hour_.counted;
        const auto daily_then = day_ ? day_->counted : hourly_then;
        fed taken{.gate = terms.gate};
        auto next = asked.fingerprints.begin();
        for (const claim_run& run : asked.runs) {
            if (!run.look && run.series != 0)
                for (const std::uint8_t place : run.budgets) resolve(asked, place, terms);
            for (std::uint32_t i = 0; i < run.series; ++i, ++next) {
                const auto at = static_cast<std::size_t>(next - asked.fingerprints.begin());
                const std::uint64_t family = asked.families.empty() ? 0 : asked.families[at];
                answer.series.push_back(run.look ? look(*next, terms) : decide_one(*next, family, run, terms, taken));
            }
        }
        for (std::size_t i = 0; i < answer.series.size(); ++i)
            if (answer.series[i].outcome == claim_outcome::taken) taken.series.push_back(asked.fingerprints[i]);
        note_crowded(terms, hourly_then, daily_then);
        taken.upto = hour_.series.size();
        taken.hourly = grown(hourly_then, hour_.counted);
        if (day_) taken.daily = grown(daily_then, day_->counted);
        if (!taken.series.empty()) hour_.feed.push_back(std::move(taken));
        for (std::size_t place = 0; place < asked.budgets.size(); ++place) {
            const asked_budget& budget = resolve(asked, place, terms);
            answer.budgets.push_back({.shares = budget.shares,
                                      .hourly = hour_.count(budget.id),
                                      .daily = terms.with_day ? day_->count(budget.id) : 0,
                                      .awaited = awaited(budget, terms)});
        }
    }

    [[nodiscard]] bool is_uncounted(const claim_terms& terms) const {
        return terms.with_day && uncounted_day_ == terms.hour / 24 && terms.hour % 24 != 0;
    }
    /// Nobody knows how much has passed: there is no more room in the day.
    [[nodiscard]] bool is_day_full(const claim_terms& terms) const {
        return is_uncounted(terms) && kept_day_ != uncounted_day_;
    }

    /// Once a budget, when it is first asked about and has anything in the day.
    void carry(const claim& asked, const claim_terms& terms) {
        if (!is_uncounted(terms) || is_day_full(terms) || broken_.nothing_carried) return;
        for (const claimed_budget& each : asked.budgets) {
            carry(each.id);
            if (each.limit_budgets != 0) carry(each.overflow_id);
        }
    }
    void carry(std::uint64_t budget) {
        const std::uint64_t had = before_day_.count(budget);
        const std::uint64_t left = had - std::min(had, window::found(days_first_.returned, budget));
        if (left == 0 && day_->count(budget) == 0) return;
        const auto [at, is_first] = day_->carried.try_emplace(budget, left);
        if (is_first && left != 0) day_->counted[budget] += left;
    }

    using counts_by_id = std::map<std::uint64_t, std::uint64_t>;

    static counts_by_id grown(const counts_by_id& then, const counts_by_id& now) {
        counts_by_id more;
        for (const auto& [id, count] : now)
            if (count != window::found(then, id)) more[id] = count;
        return more;
    }

    /// Incumbents that have passed at once may be more than claims can take, if some had completed histograms.
    void note_crowded(const claim_terms& terms, const counts_by_id& hourly_then, const counts_by_id& daily_then) {
        if (!terms.accepted || terms.owed || terms.reserve == 0) return;
        const auto is_crowded = [&](const window& in, std::uint64_t id, std::uint64_t maximum, bool keeps_room) {
            const std::uint64_t allowed_for = keeps_room ? window::found(in.over, id) : 0;
            return maximum != 0 && in.count(id) > claimed_max(maximum, terms.reserve) + allowed_for;
        };
        const counts_by_id hourly = grown(hourly_then, hour_.counted);
        const counts_by_id daily = day_ ? grown(daily_then, day_->counted) : counts_by_id{};
        for (const auto& [place, budget] : resolved_) {
            const std::uint64_t id = budget.id;
            if (hourly.contains(id) && is_crowded(hour_, id, budget.maxima.hourly, in_grace_)) hour_.owed = true;
            if (daily.contains(id) && is_crowded(*day_, id, budget.maxima.daily, in_grace_ && terms.hour % 24 == 0))
                owed_day_ = terms.hour / 24;
        }
    }

    [[nodiscard]] bool in_day(std::uint64_t series, const claim_terms& terms) const {
        return terms.with_day && day_->series.contains(series);
    }

    /// What was accepted at once is in the day's count, which has been restored, whether it is in the set or not.
    [[nodiscard]] bool counts_day(const claim_terms& terms) const {
        return terms.with_day && (terms.hour % 24 == 0 || !is_held());
    }

    [[nodiscard]] series_answer look(std::uint64_t series, const claim_terms& terms) const {
        const bool was_before = before_ && terms.buckets.before == before_->buckets && before_->series.contains(series);
        const bool known = hour_.series.contains(series) || in_day(series, terms) || was_before;
        return {.outcome = known ? claim_outcome::known : claim_outcome::unknown};
    }

    series_answer decide_one(std::uint64_t series, std::uint64_t family, const claim_run& run, const claim_terms& terms,
                             fed& fed_with) {
        if (hour_.series.contains(series)) return {.outcome = claim_outcome::known};
        const bool day_known = in_day(series, terms);
        const bool incumbent = in_grace_ && before_->series.contains(series);
        std::vector<std::uint64_t> without_hour, without_day;  // budgets
        for (const std::uint8_t place : run.budgets) {
            const asked_budget& budget = resolved_.at(place);
            const std::uint64_t kept = awaited(budget, terms);
            const std::uint64_t kept_in_day = terms.hour % 24 == 0 ? kept : 0;
            // What has completed histograms takes no room from the incumbents that have yet to return.
            const auto has_room = [&](const window& in, std::uint64_t maximum, std::uint64_t kept_in_it) {
                const std::uint64_t count = in.count(budget.id);
                if (!incumbent) return store_model::has_room(maximum, count, kept_in_it);
                return store_model::has_room(maximum, count - (kept_in_it == 0 ? 0 : window::found(in.over, budget.id)),
                                             0);
            };
            const auto may_complete = [&](const window& in, std::uint64_t maximum, std::uint64_t kept_in_it) {
                const std::uint64_t margin =
                    std::max(maximum * terms.histogram_margin / 10'000, terms.histogram_series_max);
                return completes(in, family, terms) &&
                       store_model::has_room(maximum + margin, in.count(budget.id), incumbent ? 0 : kept_in_it);
            };
            if (!has_room(hour_, budget.maxima.hourly, kept)) {
                if (!may_complete(hour_, budget.maxima.hourly, kept))
                    return {.outcome = claim_outcome::refused, .budget = place, .window = refusing_window::hourly};
                without_hour.push_back(budget.id);
            }
            const bool has_day = budget.maxima.daily == 0 || !is_day_full(terms);
            if (counts_day(terms) && !day_known && !(has_day && has_room(*day_, budget.maxima.daily, kept_in_day))) {
                if (!has_day || !may_complete(*day_, budget.maxima.daily, kept_in_day))
                    return {.outcome = claim_outcome::refused, .budget = place, .window = refusing_window::daily};
                without_day.push_back(budget.id);
            }
        }
        take(series, run, {.incumbent = incumbent, .day_counts = terms.with_day && !day_known}, terms);
        if (!without_hour.empty()) complete(hour_, family, without_hour, in_grace_);
        if (!without_day.empty()) complete(*day_, family, without_day, in_grace_ && terms.hour % 24 == 0);
        if (family != 0) begin_histogram(family, terms, fed_with);
        return {.outcome = claim_outcome::taken,
                .completed = {.hour = !without_hour.empty(), .day = !without_day.empty()}};
    }

    /// Whether one more series of a histogram that has begun may be taken without room.
    static bool completes(const window& in, std::uint64_t family, const claim_terms& terms) {
        return in.families.contains(family) && window::found(in.completed, family) < terms.histogram_series_max;
    }

    static void complete(window& in, std::uint64_t family, std::span<const std::uint64_t> without, bool keeps_room) {
        ++in.completed[family];
        if (!keeps_room) return;
        for (const std::uint64_t budget : without) ++in.over[budget];
    }

    void begin_histogram(std::uint64_t family, const claim_terms& terms, fed& fed_with) {
        if (hour_.families.insert(family).second) fed_with.families.push_back(family);
        if (terms.with_day) day_->families.insert(family);
    }

    static bool has_room(std::uint64_t maximum, std::uint64_t current, std::uint64_t kept) {
        return maximum == 0 || (current < maximum && kept < maximum - current);
    }

    struct how_taken {
        bool incumbent = false;
        bool day_counts = false;
    };

    void take(std::uint64_t series, const claim_run& run, how_taken how, const claim_terms& terms) {
        hour_.series.insert(series);
        if (terms.owed) {
            hour_.owed = true;
            owed_day_ = terms.hour / 24;
        }
        if (how.day_counts) day_->series.insert(series);
        for (const std::uint8_t place : run.budgets) {
            asked_budget& budget = resolved_.at(place);
            if (std::exchange(budget.opens, false)) ++limits_budgets(terms)[shelf_of_.at(place)];
            hour_.shared |= budget.shares;
            ++hour_.counted[budget.id];
            if (how.incumbent) ++hour_.returned[budget.id];
            if (how.day_counts && counts_day(terms)) ++day_->counted[budget.id];
        }
    }

    // --- budgets

    std::map<std::size_t, std::uint64_t> shelf_of_;

    std::map<std::uint64_t, std::uint64_t>& limits_budgets(const claim_terms& terms) {
        return terms.with_day ? day_->places : hour_.places;
    }

    /// Until it has taken a series, another one may take the last place.
    const asked_budget& resolve(const claim& asked, std::size_t place, const claim_terms& terms) {
        const auto [at, is_new] = resolved_.try_emplace(place);
        if (!is_new && !at->second.opens) return at->second;
        const claimed_budget& budget = asked.budgets[place];
        asked_budget& as = at->second;
        as = {.id = budget.id, .maxima = claimed(budget.maxima, terms)};
        shelf_of_[place] = budget.limit_budgets;
        if (budget.limit_budgets == 0) return as;
        const bool had_place = before_ && before_->count(budget.id) != 0;
        if (!had_place && hour_.count(budget.id) == 0 && !(terms.with_day && day_->count(budget.id) != 0)) {
            if (window::found(limits_budgets(terms), budget.limit_budgets) >= budget.places_max) {
                as = {.id = budget.overflow_id, .maxima = claimed(budget.overflow_maxima, terms), .shares = true};
                return as;
            }
            as.opens = true;
        }
        as.unknown_past = !had_place && before_ && before_->count(budget.overflow_id) != 0;
        return as;
    }

    /// Where claims stop: what has passed already has its place.
    static series_maxima claimed(const series_maxima& whole, const claim_terms& terms) {
        if (terms.accepted || terms.owed) return whole;
        return {.hourly = claimed_max(whole.hourly, terms.reserve), .daily = claimed_max(whole.daily, terms.reserve)};
    }

    /// Incumbents that are yet to return: room is kept for them.
    [[nodiscard]] std::uint64_t awaited(const asked_budget& budget, const claim_terms& terms) const {
        if (!in_grace_ || is_held()) return 0;
        if (before_->rules != terms.rules || before_->mixed || budget.unknown_past) return infinite;
        const std::uint64_t expected = before_->count(budget.id) - window::found(before_->missing, budget.id);
        const std::uint64_t returned = window::found(hour_.returned, budget.id);
        return expected > returned ? expected - returned : 0;
    }
};

}  // namespace seriesgate::testing
