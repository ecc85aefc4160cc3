#include "limit/learning.hpp"

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <memory>
#include <utility>

#include "limit/limiter.hpp"

namespace seriesgate {
namespace {

/// Series added under one hold of the lock: some tens of microseconds.
constexpr std::size_t series_per_piece = 512;

enum class piece_end : std::uint8_t { finished, table_full, other_hour };

/// The shared store has it in the hour, and in the day. @return false if there is no room for the series.
bool enter_in_hour(limiter_state&, const commit_state& held, std::uint64_t series) {
    series_table& table = *held.table;
    const series_mark mark = table.read().mark_of(series);
    if (mark.seen >= held.hour_begins) {
        if (mark.is_untold) table.mark_told(series, {.last = true});
        return true;
    }
    if (!table.find_room(series)) return false;
    const bool was_before = held.was_before(mark);
    table.insert(series, {.seen = std::max(held.minute, held.hour_begins),
                          .was_before = was_before,
                          .combination = mark.combination,
                          .is_outdated = mark.is_outdated,
                          .is_untold_before = was_before && mark.is_untold});
    return true;
}

/// The same for the hour before. Who was refused, and is an incumbent of another gate, may ask again.
bool enter_in_hour_before(limiter_state& state, const commit_state& held, std::uint64_t series) {
    series_table& table = *held.table;
    series_mark mark = table.read().mark_of(series);
    if (held.was_before(mark)) return true;
    if (!table.find_room(series)) return false;
    if (mark.seen < held.hour_begins)
        mark.seen = held.hour_begins - 1;
    else
        mark.was_before = true;
    mark.is_day_key = false;
    table.insert(series, mark);
    state.refused.clear();
    return true;
}

using enter_series = bool (*)(limiter_state&, const commit_state&, std::uint64_t);

/// @param next the first series not added yet; advanced past the added ones.
piece_end learn_piece(limiter_state& state, const window_span& hour, std::span<const std::uint64_t> fingerprints,
                      std::size_t& next, enter_series enter) {
    const auto held = state.commit.lock();
    const auto current = state.sets.read();
    const bool is_told = enter == enter_in_hour || current->has_hour_before();
    if (current->hour_span != hour || !is_told) return piece_end::other_hour;
    state.revision.fetch_add(1, std::memory_order_relaxed);
    const series_table::view table = held->table->read();
    const std::size_t end = std::min(fingerprints.size(), next + series_per_piece);
    for (std::size_t i = next; i < end; ++i) table.prefetch(fingerprints[i]);
    for (; next < end; ++next)
        if (!enter(state, *held, fingerprints[next])) return piece_end::table_full;
    return piece_end::finished;
}

bool learn_all(series_limiter& limiter, const window_span& hour, std::span<const std::uint64_t> fingerprints,
               std::uint64_t expected, enter_series enter) {
    assert(limiter.state().is_shared());
    for (std::size_t next = 0; next < fingerprints.size();) {
        const piece_end end = learn_piece(limiter.state(), hour, fingerprints, next, enter);
        if (end == piece_end::other_hour) return false;
        if (end == piece_end::table_full) make_room(limiter.state(), expected);
    }
    return true;
}

}  // namespace

bool learn(series_limiter& limiter, const window_span& hour, std::span<const std::uint64_t> fingerprints,
           std::uint64_t expected) {
    return learn_all(limiter, hour, fingerprints, expected, enter_in_hour);
}

bool learn_hour_before(series_limiter& limiter, const window_span& hour, std::span<const std::uint64_t> fingerprints,
                       std::uint64_t expected) {
    return learn_all(limiter, hour, fingerprints, expected, enter_in_hour_before);
}

bool expect_hour_before(series_limiter& limiter, const window_span& hour) {
    limiter_state& state = limiter.state();
    assert(state.is_shared());
    const auto held = state.commit.lock();
    auto next = std::make_unique<window_sets>(*state.sets.read());
    if (next->hour_span != hour) return false;
    if (next->has_hour_before()) return true;
    next->knows_hour_before = held->knows_hour_before = true;
    state.revision.fetch_add(1, std::memory_order_relaxed);
    publish(state.sets, *held, std::move(next));
    return true;
}

void show_counts(series_limiter& limiter, const window_span& hour, const compiled_rules& rules,
                 const std::function<std::optional<fleet_counts>(const budget_pair&)>& of) {
    constexpr std::size_t budgets_per_piece = 128;
    limiter_state& state = limiter.state();
    std::optional<budget_table::cursor> at;
    for (bool has_more = true; has_more;) {
        catch_up(state.commit);
        const auto held = state.commit.lock();
        if (held->budgets.is_behind()) continue;
        const auto current = state.sets.read();
        if (current->hour_span != hour || held->budgets.rules().get() != &rules) return;
        if (!at || !held->budgets.holds(*at)) at = held->budgets.begin();
        const bool is_days_first = current->hour_span.start == current->day_span.start;
        bool has_changed = false;
        has_more = held->budgets.change_some(*at, budgets_per_piece, [&](budget_pair& pair) {
            const auto counts = of(pair);
            if (!counts) return;
            has_changed |= pair.hourly.set_shared(counts->hourly, counts->kept, pair.mode);
            has_changed |= pair.daily.set_shared(counts->daily, is_days_first ? counts->kept : 0, pair.mode);
        });
        if (has_changed) state.revision.fetch_add(1, std::memory_order_relaxed);
    }
}

}  // namespace seriesgate
