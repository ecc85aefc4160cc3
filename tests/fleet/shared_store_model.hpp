/// What the scripts of the store do, with sets and maps where these have keys: their specification, short and slow.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "claim/store_call.hpp"
#include "claim/witnessed_clock.hpp"
#include "fleet/store_keys.hpp"

namespace seriesgate::testing {

/// A promise that does not hold.
struct broken_promise : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// What a store could do that it must not, for tests that have to notice.
struct shared_store_mutants {
    bool lapses_by_timer = false;          ///< places lapse with the grace, whatever gates have said
    bool refills_without_waiting = false;  ///< new series find room while gates refill
    bool refuses_passes = false;           ///< a pass needs room
    bool admits_over_full = false;         ///< series of the hour before pass where they were more than the maximum
    bool accepts_any_epoch = false;        ///< a server that has lost data goes on
    bool forgets_who_left = false;         ///< who still names the gate in a refill brings it back
};

class shared_store_model {
  public:
    using ids = std::vector<std::uint64_t>;
    using series_by_id = std::map<std::uint64_t, std::set<std::uint64_t>>;

    /// The series of one hour or day.
    struct window {
        std::uint32_t buckets = 0;
        std::set<std::uint64_t> limits{};  ///< that all gates have counted in it
        std::set<std::uint64_t> series{};
        series_by_id counted{};                              ///< by budget
        series_by_id returned{};                             ///< of an hour: those that are in the hour before, too
        series_by_id groups{};                               ///< with series, by set of groups
        std::map<std::uint64_t, std::uint64_t> completed{};  ///< series without room, by budget
        bool has_expired = false;                            ///< by a clock that has leapt

        [[nodiscard]] std::uint64_t count(std::uint64_t budget) const { return size_at(counted, budget); }
    };
    static std::uint64_t size_at(const series_by_id& in, std::uint64_t key) {
        const auto at = in.find(key);
        return at == in.end() ? 0 : at->second.size();
    }
    struct gate_entry {
        std::int64_t clock = 0;
        std::int64_t hour = -1;  ///< of its last sign of life
        std::int64_t told = -1;  ///< the last hour for which it said so
        bool has_left = false;   ///< it is remembered, for others may still name it
        std::string progress = "-";
        std::int64_t since = 0;  ///< it has made that progress
        std::string version{};
    };

    shared_store_model() = default;
    explicit shared_store_model(const shared_store_mutants& wrong) : wrong_(wrong) {}

    /// @param server run_id of the server that the gate's connection leads to.
    store_answer decide(const store_call& asked, const gate_terms& terms, const std::string& server, time_point now) {
        now_ = now;
        store_answer answer{.status = decide_status(asked, terms, server)};
        if (answer.status == store_status::decided) decide_series(asked, terms, answer);
        answer.windows = windows();
        return answer;
    }

    heartbeat_answer beat(const heartbeat& of, const std::string& server, time_point now) {
        now_ = now;
        if (fingerprints_ && *fingerprints_ != of.fingerprints)
            return {.state = state(heartbeat_status::foreign, {}), .gates = {}};
        const std::int64_t at = clock(of.gate, seconds(of.clock));
        notice_losses(of, server, at);
        const bool takes_part = of.epoch == epoch_;
        if (takes_part) skip_leap();
        if (refilling_since_)
            for (const gate_heard_of& each : of.heard_of)
                gates_.try_emplace(each.name, gate_entry{.hour = each.hour, .since = seconds(now_)});
        note_gate(of, at);
        std::erase_if(gates_, [&](const auto& each) { return each.second.hour < sign_of_life(at) - 1; });
        if (takes_part) end_refill();
        const bool has_lapsed = takes_part && of.is_told && of.has_lapsed && of.hour == open_;
        if ((has_lapsed || may_lapse(at)) && at >= open_ * 3600 + of.grace.count()) lapsed_ = open_;
        heartbeat_answer answer{.state = state(heartbeat_status::heard, std::chrono::seconds{at - seconds(now_)})};
        for (const auto& [name, its] : gates_)
            if (!its.has_left)
                answer.gates.push_back(
                    {.name = name,
                     .hour = its.hour,
                     .version = its.version,
                     .silent_seconds = std::clamp<std::int64_t>(seconds(now_) - its.clock, 0, silent_max)});
        return answer;
    }

    [[nodiscard]] feed_page read_feed(const std::string& epoch, std::uint64_t read, const std::string& server,
                                      time_point now) {
        now_ = now;
        if (!epoch_ || server_ != server || *epoch_ != epoch)
            return {.state = state(heartbeat_status::other_epoch, {})};
        feed_page page{.state = state(heartbeat_status::heard, {})};
        for (const fed_call& each : feed_)
            if (each.upto > read && page.calls.size() < feed_entries_max) page.calls.push_back(each);
        return page;
    }

    /// As FLUSHALL.
    void empty() { *this = shared_store_model{wrong_}; }
    /// As the store's clock makes them expire by leaping ahead.
    void expire_hour() { hour_.has_expired = true; }
    void expire_before() { before_.has_expired = true; }

    [[nodiscard]] const window& hour() const { return hour_; }
    [[nodiscard]] const window& before() const { return before_; }
    [[nodiscard]] const window& day() const { return day_; }
    [[nodiscard]] std::int64_t hour_number() const { return open_; }
    [[nodiscard]] std::int64_t day_number() const { return open_day_; }
    [[nodiscard]] std::uint64_t generation() const { return generation_; }
    [[nodiscard]] bool has_before() const { return before_.buckets != 0; }
    [[nodiscard]] bool keeps_places() const { return has_before() && lapsed_ != open_; }
    [[nodiscard]] bool is_refilling() const { return refilling_since_.has_value(); }
    [[nodiscard]] const std::optional<std::string>& epoch() const { return epoch_; }
    [[nodiscard]] const std::map<std::string, gate_entry>& gates() const { return gates_; }
    [[nodiscard]] const std::vector<fed_call>& feed() const { return feed_; }
    [[nodiscard]] std::uint64_t fed() const { return fed_; }

  private:
    shared_store_mutants wrong_;
    time_point now_{};
    std::string server_;
    std::optional<std::string> epoch_, fingerprints_;
    std::optional<std::int64_t> refilling_since_;
    std::int64_t beaten_ = 0;  // the last heartbeat while gates refill
    std::map<std::string, gate_entry> gates_;
    std::uint64_t generation_ = 0;
    std::int64_t open_ = -1, open_day_ = -1, lapsed_ = -1;
    window hour_, before_, day_;
    std::vector<fed_call> feed_;
    std::uint64_t fed_ = 0;

    static std::int64_t seconds(time_point of) {
        return std::chrono::floor<std::chrono::seconds>(of).time_since_epoch().count();
    }

    [[nodiscard]] open_windows windows() const {
        return {.now = std::chrono::floor<std::chrono::microseconds>(now_),
                .hour = open_,
                .generation = generation_,
                .buckets = {.hour = hour_.buckets,
                            .day = open_day_ == day_of_hour(open_) ? day_.buckets : 0,
                            .before = before_.buckets},
                .keeps_places = keeps_places()};
    }

    [[nodiscard]] store_state state(heartbeat_status status, std::chrono::seconds ahead) const {
        return {.status = status,
                .windows = windows(),
                .epoch = epoch_.value_or(""),
                .is_refilling = is_refilling(),
                .fed = fed_,
                .ahead = ahead};
    }

    // --- clocks

    /// The store's clock, if the gate agrees with it. Else the median of the clocks of the store and all gates that are
    /// near the one or the other; the store's counts twice if their number is even.
    [[nodiscard]] std::int64_t clock(const std::string& gate, std::int64_t gates_clock) const {
        const std::int64_t own = seconds(now_);
        const auto is_near = [](std::int64_t one, std::int64_t other, std::int64_t most) {
            return std::abs(one - other) <= most;
        };
        if (is_near(own, gates_clock, 120)) return own;
        std::vector<std::int64_t> clocks{own, gates_clock};
        for (const auto& [name, its] : gates_)
            if (name != gate && (is_near(its.clock, own, 300) || is_near(its.clock, gates_clock, 300)))
                clocks.push_back(its.clock);
        if (clocks.size() % 2 == 0) clocks.push_back(own);
        std::sort(clocks.begin(), clocks.end());
        return clocks[clocks.size() / 2];
    }

    // --- losses

    void drop_windows() {
        generation_ = std::max(generation_ + 1, static_cast<std::uint64_t>(seconds(now_)));
        open_ = open_day_ = lapsed_ = -1;
        hour_ = before_ = day_ = window{};
    }

    void notice_losses(const heartbeat& of, const std::string& server, std::int64_t at) {
        const bool is_running = at < (open_ + 1) * 3600 + 300;
        const bool names_windows = is_running && of.hour == open_ && of.generation == generation_;
        const bool has_expired = hour_.has_expired || (has_before() && before_.has_expired) ||
                                 (open_day_ == day_of_hour(open_) && day_.has_expired);
        const bool is_wrong = open_ >= 0 && (open_ * 3600 > at + 300 || (names_windows && has_expired));
        if (is_wrong) drop_windows();
        const bool is_whole = epoch_ && (server_ == server || wrong_.accepts_any_epoch);
        if (is_whole && !is_wrong) return;
        begin_epoch(server);
        fingerprints_ = of.fingerprints;
        for (auto& [name, its] : gates_) {
            if (!its.has_left) its.progress = "-";
            its.since = seconds(now_);
            its.hour = std::min(its.hour, sign_of_life(at));
        }
    }

    void begin_epoch(const std::string& server) {
        const auto whole = std::chrono::floor<std::chrono::seconds>(now_);
        char text[40];
        std::snprintf(text, sizeof text, "%lld.%06lld", static_cast<long long>(seconds(now_)),
                      static_cast<long long>(std::chrono::floor<std::chrono::microseconds>(now_ - whole).count()));
        epoch_ = text;
        server_ = server;
        refilling_since_ = beaten_ = seconds(now_);
    }

    /// While gates refill, they give a sign of life each second. A clock that goes further, or back, has leapt, and
    /// that is no time of the refill. Nor is it while no gate takes part, because none believes the store's clock.
    void skip_leap() {
        if (!refilling_since_) return;
        const std::int64_t passed = seconds(now_) - beaten_;
        const std::int64_t skipped = passed < 0 ? passed : std::max<std::int64_t>(0, passed - 2);
        beaten_ = seconds(now_);
        *refilling_since_ += skipped;
        for (auto& [name, its] : gates_) its.since += skipped;
    }

    /// The hour of a heartbeat, though nothing may have been counted in it.
    [[nodiscard]] std::int64_t sign_of_life(std::int64_t at) const { return std::max(open_, at / 3600); }

    void note_gate(const heartbeat& of, std::int64_t at) {
        // Of a loss that the gate has not heard of it has to tell first.
        if (of.leaves && of.epoch == epoch_) {
            gates_.erase(of.gate);
            if (!wrong_.forgets_who_left)
                gates_[of.gate] = {.hour = sign_of_life(at), .has_left = true, .progress = "d", .since = seconds(now_)};
            return;
        }
        gate_entry& its = gates_.try_emplace(of.gate, gate_entry{.since = seconds(now_)}).first->second;
        const std::string progress = of.epoch != epoch_ ? "-" : of.refilled ? std::to_string(*of.refilled) : "d";
        if (std::exchange(its.progress, progress) != progress) its.since = seconds(now_);
        its.has_left = false;
        its.clock = seconds(of.clock);
        its.hour = sign_of_life(at);
        its.told = of.is_told && of.hour == open_ ? open_ : -1;
        its.version = of.version;
    }

    void end_refill() {
        if (!refilling_since_) return;
        const std::int64_t now = seconds(now_), waited = now - *refilling_since_;
        const bool all_have = std::all_of(gates_.begin(), gates_.end(), [now](const auto& each) {
            return each.second.progress == "d" || now - each.second.since >= 5;
        });
        if (waited >= 600 || (waited >= 2 && all_have)) refilling_since_.reset();
    }

    [[nodiscard]] bool may_lapse(std::int64_t at) const {
        const bool all_told = std::all_of(gates_.begin(), gates_.end(), [this](const auto& each) {
            return each.second.told == open_ || each.second.has_left;
        });
        return open_ == sign_of_life(at) && !refilling_since_ && (all_told || wrong_.lapses_by_timer);
    }

    // --- windows

    store_status decide_status(const store_call& asked, const gate_terms& terms, const std::string& server) {
        const bool is_its_epoch = epoch_ && server_ == server && *epoch_ == terms.epoch;
        if (!is_its_epoch && !(wrong_.accepts_any_epoch && epoch_)) return store_status::other_epoch;
        if (terms.generation != generation_) return store_status::moved;
        open_windows_for(terms);
        if (terms.hour != open_) return store_status::closed;
        const std::int64_t day = day_of_hour(terms.hour);
        if (terms.with_day && open_day_ != day) {
            day_ = new_window(terms, day_.series.size(), terms.day_room);
            open_day_ = day;
        }
        const bool enters = enters_before(asked);
        if (asked.kind == call_kind::refill && enters && !has_before()) {
            before_ = new_window(terms, 0, 1);
            before_.buckets = hour_.buckets;
        }
        const bool needs_before = keeps_places() || (enters && has_before());
        if (terms.buckets.hour != hour_.buckets || (terms.with_day && terms.buckets.day != day_.buckets) ||
            (needs_before && terms.buckets.before != before_.buckets))
            return store_status::moved;
        if (hour_.has_expired || (terms.with_day && day_.has_expired) || (reads_before(asked) && before_.has_expired)) {
            drop_windows();
            epoch_.reset();
            return store_status::other_epoch;
        }
        return store_status::decided;
    }

    static bool enters_before(const store_call& asked) {
        return std::any_of(asked.runs.begin(), asked.runs.end(), [](const auto& run) { return run.windows.before; });
    }
    [[nodiscard]] bool reads_before(const store_call& asked) const {
        const bool has_groups = std::any_of(asked.budgets.begin(), asked.budgets.end(),
                                            [](const shared_budget& each) { return each.group_set != 0; });
        return has_before() && (keeps_places() || enters_before(asked) || has_groups);
    }

    void open_windows_for(const gate_terms& terms) {
        if (terms.hour <= open_) return;
        const std::int64_t at = clock(terms.gate, seconds(terms.clock));
        if (at < terms.hour * 3600 - 5 || at >= (terms.hour + 1) * 3600) return;
        window opened = new_window(terms, hour_.series.size(), terms.room);
        before_ = open_ == terms.hour - 1 ? std::move(hour_) : window{};
        hour_ = std::move(opened);
        open_ = terms.hour;
    }

    static window new_window(const gate_terms& terms, std::size_t last, std::uint64_t room) {
        const auto wanted = static_cast<double>(room == 0 ? 1 << 20 : std::min<std::uint64_t>(room, 16 << 20));
        const double series = std::max(static_cast<double>(last) * 1.25, wanted);
        window made{.limits = {terms.limits.begin(), terms.limits.end()}};
        for (made.buckets = 1; made.buckets < 1u << 20 && made.buckets * 256.0 < series;) made.buckets *= 2;
        return made;
    }

    static void note_limits(window& in, const gate_terms& terms) {
        std::erase_if(in.limits, [&terms](std::uint64_t limit) {
            return !std::binary_search(terms.limits.begin(), terms.limits.end(), limit);
        });
    }

    // --- series

    /// A call that is being decided.
    struct deciding {
        const store_call& asked;
        const gate_terms& terms;
        bool enters_before = false;
        std::set<std::uint64_t> limits_before{};  ///< counted in the whole hour before
        fed_call fed{};
    };
    /// A budget as it is counted.
    struct resolved {
        std::uint64_t id = 0;
        series_maxima maxima{}, completions{};
        std::uint64_t group_set = 0;  ///< if it has a budget of its own in one
        bool is_overflow = false;
        bool knows_before = true;
    };

    void decide_series(const store_call& asked, const gate_terms& terms, store_answer& answer) {
        deciding of{.asked = asked,
                    .terms = terms,
                    .enters_before = has_before() && enters_before(asked),
                    .limits_before = before_.limits};
        note_limits(hour_, terms);
        if (terms.with_day) note_limits(day_, terms);
        if (of.enters_before) note_limits(before_, terms);
        auto next = asked.fingerprints.begin();
        std::vector<std::vector<std::uint64_t>> taken;
        for (const series_run& run : asked.runs) {
            taken.emplace_back();
            for (std::uint32_t i = 0; i < run.series; ++i, ++next) {
                const series_decision decision = decide_one(of, run, *next);
                const bool is_taken =
                    decision.outcome == store_outcome::taken || decision.outcome == store_outcome::completed;
                if (is_taken) taken.back().push_back(*next);
                answer.series.push_back(decision);
            }
        }
        feed(of, taken);
        for (const shared_budget& each : asked.budgets) {
            const resolved as = resolve(of, each);
            answer.budgets.push_back({.is_overflow = as.is_overflow,
                                      .hourly = hour_.count(as.id),
                                      .daily = terms.with_day ? day_.count(as.id) : 0,
                                      .kept = kept(as)});
        }
    }

    series_decision decide_one(const deciding& of, const series_run& run, std::uint64_t series) {
        if (!run.windows.any()) return {.outcome = look(of, series)};
        std::vector<resolved> budgets;
        for (const std::uint8_t place : run.budgets) budgets.push_back(resolve(of, of.asked.budgets[place]));
        if (of.asked.kind != call_kind::claim && !wrong_.refuses_passes)
            return {.outcome = take(of, run, budgets, series) ? store_outcome::taken : store_outcome::known};
        return claim_one(of, run, budgets, series);
    }

    [[nodiscard]] store_outcome look(const deciding& of, std::uint64_t series) const {
        const bool knows_before = has_before() && of.terms.buckets.before == before_.buckets;
        const bool is_known = hour_.series.contains(series) || (of.terms.with_day && day_.series.contains(series)) ||
                              (knows_before && before_.series.contains(series));
        return is_known ? store_outcome::known : store_outcome::unknown;
    }

    series_decision claim_one(const deciding& of, const series_run& run, const std::vector<resolved>& budgets,
                              std::uint64_t series) {
        if (hour_.series.contains(series)) return {.outcome = store_outcome::known};
        const bool is_incumbent = keeps_places() && before_.series.contains(series);
        const bool in_day = of.terms.with_day && day_.series.contains(series);
        std::vector<std::pair<window*, std::uint64_t>> without_room;
        for (std::size_t i = 0; i < budgets.size(); ++i) {
            const resolved& each = budgets[i];
            const bool by_hour = is_full(each, is_incumbent);
            const bool by_day = of.terms.with_day && !in_day && is_day_full(each, is_incumbent);
            if (!by_hour && !by_day) continue;
            if (is_refilling() && !wrong_.refills_without_waiting) return {.outcome = store_outcome::waits};
            const auto refused = [&](refusing_window by) {
                return series_decision{.outcome = store_outcome::refused, .budget = run.budgets[i], .window = by};
            };
            if (by_hour && !may_complete(run, hour_, each.id, each.completions.hourly))
                return refused(refusing_window::hourly);
            if (by_day && !may_complete(run, day_, each.id, each.completions.daily))
                return refused(refusing_window::daily);
            if (by_hour) without_room.emplace_back(&hour_, each.id);
            if (by_day) without_room.emplace_back(&day_, each.id);
        }
        take(of, run, budgets, series);
        for (const auto& [in, id] : without_room) ++in->completed[id];
        if (without_room.empty()) return {.outcome = store_outcome::taken};
        const auto is_in = [&without_room](const window& in) {
            return std::ranges::any_of(without_room, [&in](const auto& each) { return each.first == &in; });
        };
        return {.outcome = store_outcome::completed, .without_room = {.hour = is_in(hour_), .day = is_in(day_)}};
    }

    static bool may_complete(const series_run& run, const window& in, std::uint64_t id, std::uint64_t bound) {
        const auto at = in.completed.find(id);
        return run.completes && (at == in.completed.end() ? 0 : at->second) < bound;
    }

    /// Enters a series in all windows of its run. @return whether it was new in any.
    bool take(const deciding& of, const series_run& run, const std::vector<resolved>& budgets, std::uint64_t series) {
        bool is_new = run.windows.hour && enter(hour_, budgets, series);
        if (run.windows.before && of.enters_before && enter(before_, budgets, series)) is_new = true;
        if (keeps_places() && is_new && hour_.series.contains(series) && before_.series.contains(series))
            for (const resolved& each : budgets) hour_.returned[each.id].insert(series);
        if (run.windows.day && of.terms.with_day && enter(day_, budgets, series)) is_new = true;
        return is_new;
    }

    static bool enter(window& in, const std::vector<resolved>& budgets, std::uint64_t series) {
        if (!in.series.insert(series).second) return false;
        for (const resolved& each : budgets) {
            in.counted[each.id].insert(series);
            if (each.group_set != 0) in.groups[each.group_set].insert(each.id);
        }
        return true;
    }

    // --- budgets

    /// As many groups of a set are there as have series in the day, or in the hour and the one before.
    [[nodiscard]] std::uint64_t groups_there(std::uint64_t set, bool with_day) const {
        std::set<std::uint64_t> hours;
        for (const window* of : {&hour_, &before_})
            if (const auto found = of->groups.find(set); found != of->groups.end())
                hours.insert(found->second.begin(), found->second.end());
        return std::max<std::uint64_t>(hours.size(), with_day ? size_at(day_.groups, set) : 0);
    }

    [[nodiscard]] resolved resolve(const deciding& of, const shared_budget& budget) const {
        resolved as{.id = budget.id,
                    .maxima = budget.maxima,
                    .completions = budget.completions,
                    .group_set = budget.group_set,
                    .knows_before = of.limits_before.contains(budget.limit)};
        const bool was_shared = budget.overflow_id != 0 && before_.count(budget.overflow_id) != 0;
        const bool shares_alike = of.limits_before.contains(budget.sharing);
        const bool knows_all = as.knows_before;
        if (was_shared && !shares_alike) as.knows_before = false;
        if (budget.group_set == 0) return as;
        const bool was_there = before_.count(budget.id) != 0;
        const bool is_there = was_there || hour_.count(budget.id) != 0 ||
                              (of.terms.with_day && day_.count(budget.id) != 0) ||
                              groups_there(budget.group_set, of.terms.with_day) < budget.groups_max;
        if (is_there) {
            if (!was_there && was_shared) as.knows_before = false;
            return as;
        }
        return {.id = budget.overflow_id,
                .maxima = budget.overflow_maxima,
                .completions = budget.overflow_completions,
                .is_overflow = true,
                .knows_before = knows_all};
    }

    [[nodiscard]] std::uint64_t kept(const resolved& budget) const {
        if (!keeps_places()) return 0;
        if (!budget.knows_before) return all_kept;
        const std::uint64_t before = before_.count(budget.id), returned = size_at(hour_.returned, budget.id);
        return before - std::min(before, returned);
    }

    static bool has_room(std::uint64_t maximum, std::uint64_t count, std::uint64_t kept) {
        return count < maximum && kept < maximum - count;
    }

    /// Series of the hour before have their places, unless they were more than the maximum: then they take what room
    /// there is, and nothing is kept from them.
    [[nodiscard]] bool is_full(const resolved& budget, bool is_incumbent) const {
        const std::uint64_t maximum = budget.maxima.hourly, count = hour_.count(budget.id);
        if (maximum == 0) return false;
        if (is_incumbent) return is_over_full(budget, maximum) && count >= maximum;
        return must_wait() || !has_room(maximum, count, kept(budget));
    }
    [[nodiscard]] bool is_day_full(const resolved& budget, bool is_incumbent) const {
        const std::uint64_t maximum = budget.maxima.daily, count = day_.count(budget.id);
        if (maximum == 0) return false;
        const bool is_first_hour = open_ % 24 == 0;
        if (is_incumbent) return is_first_hour && is_over_full(budget, maximum) && count >= maximum;
        return must_wait() || !has_room(maximum, count, is_first_hour ? kept(budget) : 0);
    }
    [[nodiscard]] bool is_over_full(const resolved& budget, std::uint64_t maximum) const {
        return before_.count(budget.id) > maximum && !wrong_.admits_over_full;
    }
    [[nodiscard]] bool must_wait() const { return is_refilling() && !wrong_.refills_without_waiting; }

    // --- the feed

    void feed(const deciding& of, const std::vector<std::vector<std::uint64_t>>& taken) {
        if (of.asked.kind == call_kind::refill && is_refilling()) return;
        fed_call entry{.run = of.terms.run, .hour = of.terms.hour};
        std::map<std::uint64_t, std::uint8_t> places;
        for (std::size_t r = 0; r < taken.size(); ++r) {
            if (taken[r].empty()) continue;
            fed_run& run = entry.runs.emplace_back(
                fed_run{.windows = of.asked.runs[r].windows, .fingerprints = taken[r], .budgets = {}});
            for (const std::uint8_t place : of.asked.runs[r].budgets) {
                const std::uint64_t id = resolve(of, of.asked.budgets[place]).id;
                const auto [at, is_new] = places.try_emplace(id, static_cast<std::uint8_t>(places.size()));
                if (is_new)
                    entry.budgets.push_back({.id = id,
                                             .hourly = hour_.count(id),
                                             .daily = of.terms.with_day ? day_.count(id) : 0,
                                             .before = of.enters_before ? before_.count(id) : 0});
                run.budgets.push_back(at->second);
            }
            fed_ += taken[r].size();
        }
        if (entry.runs.empty()) return;
        entry.upto = fed_;
        feed_.push_back(std::move(entry));
    }
};

}  // namespace seriesgate::testing
