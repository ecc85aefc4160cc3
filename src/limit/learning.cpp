#include "limit/learning.hpp"

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <memory>
#include <utility>

#include "limit/commit_state.hpp"
#include "limit/limiter.hpp"
#include "limit/limiter_state.hpp"
#include "limit/window_rotation.hpp"

namespace seriesgate {
namespace {

/// Series added under one hold of the lock: some tens of microseconds.
constexpr std::size_t series_per_piece = 512;

enum class piece_end : std::uint8_t { finished, sets_full, other_hour };

/// The sets to add series to: an hour's, and its day's if it exists.
struct sets_to_learn {
    admitted_set* hour = nullptr;
    day_set* day = nullptr;

    [[nodiscard]] bool have_room() const noexcept {
        return hour->has_room(1) && (day == nullptr || day->filter().has_room(1));
    }
    void prefetch(std::uint64_t series) const noexcept {
        hour->prefetch(series);
        if (day != nullptr) day->prefetch(series);
    }
    [[nodiscard]] in_windows lacking(std::uint64_t series) const noexcept {
        return {.hour = !hour->contains(series), .day = day != nullptr && !day->contains(series)};
    }
};

bool is_days_first(const window_sets& current) noexcept {
    return current.hour_span.start == current.day_span.start;
}

/// The sets of the hour in force.
sets_to_learn sets_of_hour(const commit_state& held, const window_sets&) noexcept {
    return {.hour = held.hour.get(), .day = held.day.get()};
}

/// The sets of the hour before. After the grace, a day's first hour no longer has the set of the day before.
sets_to_learn sets_of_hour_before(const commit_state& held, const window_sets& current) noexcept {
    return {.hour = held.hour_before.get(), .day = (is_days_first(current) ? held.day_before : held.day).get()};
}

/// @param next the first series not added yet; advanced past the added ones.
template <class SetsOf>
piece_end learn_piece(limiter_state& state, const window_span& hour, std::span<const std::uint64_t> fingerprints,
                      std::size_t& next, const SetsOf& sets_of) {
    const auto held = state.counts.lock();
    const auto current = state.sets.read();
    const sets_to_learn into = sets_of(*held, *current);
    if (current->hour_span != hour || into.hour == nullptr) return piece_end::other_hour;
    const std::size_t end = std::min(fingerprints.size(), next + series_per_piece);
    for (std::size_t i = next; i < std::min(end, next + admitted_set::prefetch_distance); ++i)
        into.prefetch(fingerprints[i]);
    for (; next < end; ++next) {
        if (next + admitted_set::prefetch_distance < end)
            into.prefetch(fingerprints[next + admitted_set::prefetch_distance]);
        const std::uint64_t series = fingerprints[next];
        const in_windows lacking = into.lacking(series);
        if (!lacking.any()) continue;
        if (!into.have_room()) return piece_end::sets_full;
        if (lacking.hour) into.hour->insert(series);
        if (lacking.day) into.day->insert(series);
    }
    return piece_end::finished;
}

// --- With a table.

/// The shared store has it in the hour, and in the day. @return false if there is no room for the series.
bool enter_in_hour(const commit_state& held, std::uint64_t series) {
    series_table& table = *held.table;
    const series_mark mark = table.read().mark_of(series);
    if (mark.seen >= held.hour_begins) {
        if (mark.is_untold) table.settle(series, {.last = true});
        return true;
    }
    if (!table.find_room(series, 1)) return false;
    const bool was_before = held.was_before(mark);
    table.insert(series, {.seen = std::max(held.minute, held.hour_begins),
                          .was_before = was_before,
                          .is_day_key = false,
                          .combination = mark.combination,
                          .is_outdated = mark.is_outdated,
                          .is_untold = false,
                          .is_untold_before = was_before && mark.is_untold});
    return true;
}

/// The same for the hour before.
bool enter_in_hour_before(const commit_state& held, std::uint64_t series) {
    series_table& table = *held.table;
    series_mark mark = table.read().mark_of(series);
    if (held.was_before(mark)) return true;
    if (!table.find_room(series, 1)) return false;
    if (mark.seen < held.hour_begins)
        mark.seen = held.hour_begins - 1;
    else
        mark.was_before = true;
    mark.is_day_key = false;
    table.insert(series, mark);
    return true;
}

using enter_series = bool (*)(const commit_state&, std::uint64_t);

/// @param next as for filters.
piece_end learn_table_piece(limiter_state& state, const window_span& hour, std::span<const std::uint64_t> fingerprints,
                            std::size_t& next, enter_series enter) {
    const auto held = state.counts.lock();
    const auto current = state.sets.read();
    const bool is_told = enter == enter_in_hour || current->has_hour_before();
    if (current->hour_span != hour || !is_told) return piece_end::other_hour;
    const series_table::view table = held->table->read();
    const std::size_t end = std::min(fingerprints.size(), next + series_per_piece);
    for (std::size_t i = next; i < end; ++i) table.prefetch(fingerprints[i]);
    for (; next < end; ++next)
        if (!enter(*held, fingerprints[next])) return piece_end::sets_full;
    return piece_end::finished;
}

bool learn_in_table(series_limiter& limiter, const window_span& hour, std::span<const std::uint64_t> fingerprints,
                    enter_series enter) {
    for (std::size_t next = 0; next < fingerprints.size();) {
        const piece_end end = learn_table_piece(limiter.state(), hour, fingerprints, next, enter);
        if (end == piece_end::other_hour) return false;
        if (end == piece_end::sets_full) limiter.time().make_room();
    }
    return true;
}

// --- With filters.

template <class SetsOf>
bool learn_all(series_limiter& limiter, const window_span& hour, std::span<const std::uint64_t> fingerprints,
               const SetsOf& sets_of, void (windows::*make_room)()) {
    assert(limiter.state().is_shared());
    for (std::size_t next = 0; next < fingerprints.size();) {
        switch (learn_piece(limiter.state(), hour, fingerprints, next, sets_of)) {
            case piece_end::finished:
                break;
            case piece_end::sets_full:
                (limiter.time().*make_room)();
                break;
            case piece_end::other_hour:
                return false;
        }
    }
    return true;
}

bool has_table(const series_limiter& limiter) {
    return limiter.state().sets.read()->table != nullptr;
}

}  // namespace

bool learn(series_limiter& limiter, const window_span& hour, std::span<const std::uint64_t> fingerprints) {
    if (has_table(limiter)) return learn_in_table(limiter, hour, fingerprints, enter_in_hour);
    return learn_all(limiter, hour, fingerprints, sets_of_hour, &windows::make_room);
}

bool learn_hour_before(series_limiter& limiter, const window_span& hour, std::span<const std::uint64_t> fingerprints) {
    if (has_table(limiter)) return learn_in_table(limiter, hour, fingerprints, enter_in_hour_before);
    return learn_all(limiter, hour, fingerprints, sets_of_hour_before, &windows::make_room_before);
}

bool expect_series(series_limiter& limiter, const window_span& hour, std::uint64_t series_count) {
    assert(limiter.state().is_shared());
    if (limiter.state().sets.read()->hour_span != hour) return false;
    if (has_table(limiter)) return true;  // a table grows by partitions
    limiter.time().make_room_for(series_count + series_count / 8);
    return true;
}

bool expect_hour_before(series_limiter& limiter, const window_span& hour, std::uint64_t series_count) {
    limiter_state& state = limiter.state();
    assert(state.is_shared());
    const window_sets current = *state.sets.read();
    if (current.hour_span != hour) return false;
    if (current.has_hour_before()) return true;
    if (current.table) {
        const auto held = state.counts.lock();
        auto next = std::make_unique<window_sets>(*state.sets.read());
        if (next->hour_span != hour) return false;
        next->knows_hour_before = held->knows_hour_before = true;
        state.sets.publish(*held, std::move(next));
        return true;
    }
    const double rate = current.rules->false_positive_rate;
    std::shared_ptr<admitted_set> hour_set = make_set(series_count + series_count / 8, 0, rate);
    // Readers check the day's set beside the hour's: see window_sets::was_admitted_before.
    std::shared_ptr<day_set> another_day;
    if (is_days_first(current))
        another_day = std::make_shared<day_set>(make_set(series_count + series_count / 8, 0, rate));
    const auto held = state.counts.lock();
    auto next = std::make_unique<window_sets>(*state.sets.read());
    if (next->hour_span != hour) return false;
    if (next->previous_hour) return true;
    next->previous_hour = held->hour_before = std::move(hour_set);
    next->previous_day = held->day_before = std::move(another_day);
    state.sets.publish(*held, std::move(next));
    return true;
}

void show_counts(series_limiter& limiter, const window_span& hour, const compiled_rules& rules,
                 const std::function<std::optional<fleet_counts>(const budget_pair&)>& of) {
    constexpr std::size_t budgets_per_piece = 128;
    limiter_state& state = limiter.state();
    std::optional<budget_table::cursor> at;
    for (bool has_more = true; has_more;) {
        catch_up(state.counts);
        const auto held = state.counts.lock();
        if (held->budgets.is_behind()) continue;
        const auto current = state.sets.read();
        if (current->hour_span != hour || held->budgets.rules().get() != &rules) return;
        if (!at || !held->budgets.holds(*at)) at = held->budgets.begin();
        const bool is_days_first = current->hour_span.start == current->day_span.start;
        has_more = held->budgets.change_some(*at, budgets_per_piece, [&](budget_pair& pair) {
            const auto counts = of(pair);
            if (!counts) return;
            pair.hourly.set_shared(counts->hourly, counts->kept, pair.mode);
            pair.daily.set_shared(counts->daily, is_days_first ? counts->kept : 0, pair.mode);
        });
    }
}

}  // namespace seriesgate
