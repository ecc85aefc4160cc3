#include "limit/window_rotation.hpp"

#include <algorithm>
#include <cassert>
#include <limits>
#include <optional>
#include <utility>

namespace seriesgate {
namespace {

using std::chrono::hours;
using std::chrono::minutes;

/// How long before a window's end the next set is made, sized by the running one.
constexpr auto spare_lead = minutes{1};

bool has_lasted(const std::optional<time_point>& leap, time_point now) {
    return leap && now >= *leap + clock_doubt && now < *leap + clock_doubt + hours{1};
}

std::unique_ptr<window_sets> copy_of(const published<window_sets>& sets) {
    return std::make_unique<window_sets>(*sets.read());
}

// --- Time.

/// A table for when the clock has gone back: minutes of the other lie ahead. Series of a day that goes on stand in it
/// for the day alone. It is made under the commit lock, a second for ten million series: new series wait.
std::shared_ptr<series_table> table_before(const series_table& ahead, minute_number now, const window_span& day,
                                           bool new_day) {
    auto made = std::make_shared<series_table>();
    if (new_day) return made;
    std::uint64_t next = 0;
    const auto take = [&](std::uint64_t fingerprint, const series_mark& mark) {
        if (mark.seen < minute_of(day.start)) return;
        const std::uint64_t key = mark.is_day_key ? fingerprint : day_set::elsewhere(fingerprint);
        made->fill_in(key, {.seen = now, .was_before = false, .is_day_key = true});
    };
    while (ahead.visit_some(next, take)) {
    }
    return made;
}

void end_all_activity(commit_state& held) noexcept {
    constexpr auto everything = std::numeric_limits<minute_number>::max();
    std::uint64_t next = 0;
    const auto leave = [&held](combination_number ended) { held.budgets.active().leave(ended); };
    while (held.table->end_activity_some(next, everything, false, leave)) {
    }
    held.idle_before = 0;
}

void roll_over(limiter_state& state, commit_state& held, window_sets& next, time_point now) {
    const window_span hour = hour_of(now);
    const window_span day = day_of(now);
    const bool follows = hour.start == next.hour_span.end;
    const bool new_day = day != next.day_span;
    const auto grace_end = hour.start + next.rules->incumbent_grace;
    const bool in_grace = follows && now < grace_end;
    const budget_table::new_hour begun{.follows = follows,
                                       .in_grace = in_grace,
                                       .new_day = new_day,
                                       .minute = minute_of(hour.start),
                                       .ended_hour = next.hour_span.start,
                                       .ended_day = next.day_span.start};
    assert(hour != next.hour_span && (held.table || (held.next_hour && (held.next_day || !new_day))));

    const series_maxima capacities = capacities_of(*next.rules);
    const auto take = [](std::unique_ptr<admitted_set>& spare, std::uint64_t capacity_max) {
        if (!spare) return std::unique_ptr<admitted_set>{};  // a table needs none
        assert(spare->size() == 0);
        spare->set_capacity_max(capacity_max);  // a reload may have changed the bound
        return std::exchange(spare, nullptr);
    };
    // Memory first: nothing fails from here on, so commit_state and the published sets agree.
    std::shared_ptr<admitted_set> hour_set = take(held.next_hour, capacities.hourly);
    std::shared_ptr<day_set> new_day_set;
    if (new_day && held.next_day) new_day_set = std::make_shared<day_set>(take(held.next_day, capacities.daily));

    if (held.table) {
        if (hour.start < next.hour_span.start) {
            auto table = table_before(*held.table, minute_of(hour.start), day, new_day);
            end_all_activity(held);
            next.table = held.table = std::move(table);
        }
        next.went_back = !new_day && (next.went_back || hour.start < next.hour_span.start);
        held.hour_begins = minute_of(hour.start);
        next.knows_hour_before = held.knows_hour_before = follows;
        held.table->forget_before(held.remembers_since(day));
    }
    next.previous_hour = follows ? next.hour : nullptr;
    next.previous_day = in_grace ? next.day : nullptr;
    next.grace_end = in_grace ? grace_end : hour.start;
    next.hour_span = hour;
    next.lapse = state.is_shared() && now < grace_end ? std::optional{grace_end} : std::nullopt;
    next.leap = std::nullopt;
    next.hour = held.hour = std::move(hour_set);
    held.hourly.clear();
    held.active.clear();
    state.samples.in(refusing_window::hourly).store(0, std::memory_order_relaxed);
    state.samples.in(refusing_window::active).store(0, std::memory_order_relaxed);
    if (new_day) {
        next.day_span = day;
        next.day = held.day = std::move(new_day_set);
        held.daily.clear();
        state.samples.in(refusing_window::daily).store(0, std::memory_order_relaxed);
    }
    held.budgets.begin_hour(begun);
    held.minute = next.minute_at(now);
    if (!follows) held.watched_since = held.minute;
}

/// Ends reservations, here or in the fleet's store.
void end_graces(commit_state& held, window_sets& next, time_point now) {
    if (next.lapse && now >= *next.lapse) next.lapse = std::nullopt;
    if (!next.in_grace() || now < next.grace_end) return;
    next.grace_end = next.hour_span.start;
    next.previous_day = nullptr;
    held.budgets.end_grace();
}

/// @return false if the next window has no memory yet.
bool try_advance(limiter_state& state, time_point now) {
    const auto held = state.commit.lock();
    auto next = copy_of(state.sets);
    if (next->cover(now)) return true;  // another thread was first
    // A fleet's clock is its store's; a gate that could not reach the store has missed some hours.
    const bool believed = state.is_shared() || has_lasted(next->leap, now);
    if (next->is_leap(now) && !believed) {
        if (!next->leap) next->minute_before_leap = held->minute;
        next->leap = now;
        publish(state.sets, *held, std::move(next));
        return true;
    }
    if (!next->in_hour(now)) {
        if (!held->table && (!held->next_hour || !held->next_day)) return false;
        roll_over(state, *held, *next, now);
    } else {
        end_graces(*held, *next, now);
    }
    assert(next->cover(now));
    state.refused.clear();  // budgets have room again, or reservations have ended
    state.revision.fetch_add(1, std::memory_order_relaxed);
    publish(state.sets, *held, std::move(next));
    return true;
}

void advance(limiter_state& state, time_point now) {
    while (!try_advance(state, now)) prepare_spares(state, now);
}

void forget_leap(limiter_state& state) {
    const auto held = state.commit.lock();
    auto next = copy_of(state.sets);
    next->leap = std::nullopt;
    publish(state.sets, *held, std::move(next));
}

void believe_leap(limiter_state& state, time_point now) {
    prepare_spares(state, now);
    const auto held = state.commit.lock();
    auto next = copy_of(state.sets);
    roll_over(state, *held, *next, now);
    publish(state.sets, *held, std::move(next));
}

// --- Active series.

void end_idle(limiter_state& state, time_point now) {
    std::shared_ptr<series_table> table;
    minute_number idle_before = 0;
    bool outdates = false;
    {
        const auto held = state.commit.lock();
        if (!held->table || held->budgets.is_behind()) return;
        const auto current = state.sets.read();
        const auto window = static_cast<minute_number>(current->rules->active_window.count());
        const minute_number minute = current->minute_at(now);
        outdates = held->budgets.take_outdated();
        if (minute == held->minute_swept && !outdates) return;
        held->minute = held->minute_swept = minute;
        held->budgets.admit_again({.now = minute, .changed_from = minute + window + 1});
        held->has_freed = true;  // newly active series have become old, if nothing else
        if (state.is_shared())   // the shared store may have to be told again of what the windows know
            idle_before = std::min(minute_of(current->day_span.start), held->hour_begins - 60);
        else if (minute > held->watched_since + window)
            idle_before = minute - window;
        if (idle_before <= held->idle_before && !outdates) return;
        table = held->table;
    }
    std::uint64_t next = 0;
    for (bool more = true; more;) {
        const auto held = state.commit.lock();
        if (held->table != table) return;  // the clock went back
        more = table->end_activity_some(next, idle_before, outdates,
                                        [&](combination_number ended) { held->budgets.active().leave(ended); });
    }
    const auto held = state.commit.lock();
    if (held->table != table) return;
    held->idle_before = std::max(held->idle_before, idle_before);
    table->forget_before(held->remembers_since(state.sets.read()->day_span));
}

/// Asks again for series that had no room among the active ones. At most once in a second: otherwise senders of stale
/// markers could make every refusal as expensive as the first.
void forget_refusals(limiter_state& state, time_point now) {
    const auto held = state.commit.lock();
    if (!held->has_freed || !held->has_refused_active) return;
    if (now >= held->refusals_forgotten && now < held->refusals_forgotten + std::chrono::seconds{1}) return;
    held->has_freed = held->has_refused_active = false;
    held->refusals_forgotten = now;
    state.refused.clear();
}

// --- Memory.

/// Rewrites one partition, in steps between which requests go on.
template <class Plan>
void rewrite(limiter_state& state, series_table& table, const Plan& plan) {
    const auto planned = state.commit.with_lock([&](commit_state&) { return plan(); });
    if (!planned) return;
    try {
        do table.prepare(*planned);
        while (!state.commit.with_lock([&](commit_state& held) {
            auto next = copy_of(state.sets);
            if (!table.apply(*planned)) return false;
            // It tells readers of what was replaced from later ones, see free_retired().
            publish(state.sets, held, std::move(next));
            return true;
        }));
    } catch (const std::bad_alloc&) {
        table.abandon(*planned);
        throw;
    }
}

void free_retired(limiter_state& state, series_table& table) {
    if (state.commit.with_lock([&](commit_state&) { return state.sets.is_quiet(); })) table.free_retired();
}

void grow_table(limiter_state& state, series_table& table) {
    constexpr std::size_t rewrites_at_once = 64;  // their old leaves are kept until readers are gone
    const auto doubtful = [&] {
        const std::scoped_lock growing{state.growth};
        return table.doubtful();
    }();
    for (std::size_t i = 0; i < doubtful.size(); ++i) {
        const std::scoped_lock growing{state.growth};  // for each anew: a request may wait for room
        if (i % rewrites_at_once == 0) free_retired(state, table);
        rewrite(state, table, [&] { return table.plan(doubtful[i]); });
    }
    const std::scoped_lock growing{state.growth};
    free_retired(state, table);
}

/// Call it under the growth lock. A set no longer in force gets no segment.
void grow(limiter_state& state, const admitted_set& wanting) {
    auto segment = wanting.prepare_segment();
    const auto held = state.commit.lock();
    if (held->hour.get() == &wanting) return held->hour->adopt(std::move(segment));
    if (held->day && &held->day->filter() == &wanting) held->day->filter().adopt(std::move(segment));
}

void grow_if_full(limiter_state& state, const admitted_set& set) {
    const auto has_room = [&](commit_state&) { return set.has_room(admitted_set::spare_capacity_min); };
    if (!state.commit.with_lock(has_room)) grow(state, set);
}

}  // namespace

published<window_sets>::reader sets_in_force(limiter_state& state, time_point now) {
    if (!state.sets.read()->cover(now)) advance(state, now);
    return state.sets.read();
}

void maintain_sets(limiter_state& state, time_point now) {
    catch_up(state.commit);
    const window_sets current = *sets_in_force(state, now);  // a copy: its shared pointers keep the sets alive
    if (current.table) {
        if (const auto table = state.commit.lock()->table) grow_table(state, *table);
    } else {
        const std::scoped_lock growing{state.growth};
        if (current.hour->wants_segment()) grow(state, *current.hour);
        if (current.day->filter().wants_segment()) grow(state, current.day->filter());
    }
    prepare_spares(state, now);
    catch_up(state.commit);
    end_idle(state, now);
    forget_refusals(state, now);
    if (current.leap && current.in_hour(now)) forget_leap(state);
    // Freeing a large set takes long, so it happens without the lock.
    const auto retired = state.commit.with_lock([&](commit_state&) { return state.sets.reclaim(); });
}

void prepare_spares(limiter_state& state, time_point now) {
    const window_sets current = *state.sets.read();
    if (current.table) return;
    const series_maxima capacities = capacities_of(*current.rules);
    const double rate = current.rules->false_positive_rate;
    const auto prepare = [&](std::unique_ptr<admitted_set> commit_state::*spare, const window_span& span,
                             const admitted_set& running, std::uint64_t capacity_max) {
        const std::uint64_t series_count = now >= span.end - spare_lead ? running.size() : 0;
        {
            const auto held = state.commit.lock();
            const admitted_set* const there = ((*held).*spare).get();
            if (there != nullptr && there->first_capacity() >= first_capacity(series_count, capacity_max) &&
                there->promised_rate() == rate)  // a reload may have changed the rate
                return;
        }
        auto made = make_set(series_count + series_count / 8, capacity_max, rate);
        const auto held = state.commit.lock();
        ((*held).*spare).swap(made);
    };
    prepare(&commit_state::next_hour, current.hour_span, *current.hour, capacities.hourly);
    prepare(&commit_state::next_day, current.day_span, current.day->filter(), capacities.daily);
}

void make_room(limiter_state& state, std::uint64_t expected) {
    const std::scoped_lock growing{state.growth};
    const window_sets current = *state.sets.read();
    if (current.table) {
        const auto table = state.commit.lock()->table;
        return rewrite(state, *table, [&] { return table->plan_for_room(expected); });
    }
    grow_if_full(state, *current.hour);
    grow_if_full(state, current.day->filter());
}

void bound_sets(commit_state& held, const compiled_rules& rules) {
    if (held.table) return;
    const series_maxima capacities = capacities_of(rules);
    const auto bound = [](admitted_set& set, std::uint64_t series_max, const budget& global) {
        const std::uint64_t uncounted = set.size() - std::min(set.size(), global.current());
        set.set_capacity_max(series_max == 0 ? 0 : series_max + uncounted);
    };
    bound(*held.hour, capacities.hourly, held.budgets.global().hourly);
    bound(held.day->filter(), capacities.daily, held.budgets.global().daily);
}

void take_rules(limiter_state& state, const std::shared_ptr<const compiled_rules>& rules) {
    const auto described = limit_budgets_rules_of(*rules);
    auto numbers = state.names.numbers_of(rules->limits);
    std::shared_ptr<void> gone;  // destroyed without the lock
    {
        const auto held = state.commit.lock();
        auto next = copy_of(state.sets);
        gone = held->budgets.reconfigure(rules, described);
        held->limit_numbers.swap(numbers);
        bound_sets(*held, *rules);
        next->rules = rules;
        next->take_grace(*rules);
        if (state.is_shared()) next->lapse = next->hour_span.start + rules->incumbent_grace;
        state.refused.clear();
        publish(state.sets, *held, std::move(next));
    }
    catch_up(state.commit);
}

void resume_windows(limiter_state& state, time_point now) {
    catch_up(state.commit);
    if (!state.sets.read()->cover(now)) {
        advance(state, now);
        if (state.sets.read()->leap) believe_leap(state, now);
    }
    const auto held = state.commit.lock();
    held->minute = held->watched_since = state.sets.read()->minute_at(now);
}

}  // namespace seriesgate
