#include "limit/telling.hpp"

#include <algorithm>
#include <cassert>
#include <optional>
#include <tuple>
#include <utility>

#include "limit/limiter.hpp"

namespace seriesgate {
namespace {

/// Series described or settled under one hold of the lock: some tens of microseconds.
constexpr std::size_t told_per_piece = 128;

template <class IsWanted>
bool find(series_limiter& limiter, std::uint64_t& next, std::vector<std::uint64_t>& found, IsWanted is_wanted) {
    found.reserve(found.size() + (std::size_t{1} << 14));  // the lock is not held while memory is made
    const auto held = limiter.state().commit.lock();
    return held->table->visit_some(next, [&](std::uint64_t fingerprint, const series_mark& mark) {
        if (!mark.is_day_key && mark.combination != 0 && is_wanted(mark)) found.push_back(fingerprint);
    });
}

entered_windows windows_of(const series_mark& mark, const commit_state& held, minute_number day_begins,
                           tell_kind kind) {
    const bool all = kind == tell_kind::refills;
    const bool in_day = mark.seen >= day_begins && (all || mark.is_untold);
    if (mark.seen >= held.hour_begins)
        return {
            .hour = all || mark.is_untold, .day = in_day, .before = mark.was_before && (all || mark.is_untold_before)};
    return {.hour = false, .day = in_day, .before = held.was_before(mark) && (all || mark.is_untold)};
}

struct described {
    telling::series series;
    combination_number combination;
};

std::vector<named_budget> budgets_of(const commit_state& held, combination_number combination) {
    std::vector<named_budget> named;
    for (const active_series::budget_number number : held.budgets.active().budgets_of(combination))
        if (const budget_pair* const pair = held.budgets.pair_of(number))
            named.push_back({.role = pair->role, .key = pair->key});
    return named;
}

}  // namespace

bool take_untold(series_limiter& limiter, std::vector<std::uint64_t>& noted) {
    assert(noted.empty());
    return limiter.state().commit.lock()->untold.exchange(noted);
}

bool find_untold(series_limiter& limiter, std::uint64_t& next, std::vector<std::uint64_t>& found) {
    return find(limiter, next, found, [](const series_mark& mark) { return mark.is_untold || mark.is_untold_before; });
}

bool find_counted(series_limiter& limiter, std::uint64_t& next, std::vector<std::uint64_t>& found) {
    return find(limiter, next, found, [](const series_mark&) { return true; });
}

telling describe(series_limiter& limiter, std::span<const std::uint64_t> fingerprints, tell_kind kind) {
    limiter_state& state = limiter.state();
    std::vector<described> found;
    found.reserve(fingerprints.size());
    telling made;
    made.all.reserve(fingerprints.size());
    for (std::size_t next = 0; next < fingerprints.size();) {
        catch_up(state.commit);
        const auto held = state.commit.lock();
        if (held->budgets.is_behind()) continue;
        const auto current = state.sets.read();
        if (next != 0 && (current->hour_span != made.hour || held->budgets.rules() != made.rules)) {
            made.all.clear();  // another hour, or other rules
            made.budgets.clear();
            next = 0;
        }
        made.hour = current->hour_span;
        made.rules = held->budgets.rules();
        const minute_number day_begins = minute_of(current->day_span.start);
        for (const std::size_t end = std::min(fingerprints.size(), next + told_per_piece); next < end; ++next) {
            const series_mark mark = held->table->read().mark_of(fingerprints[next]);
            const entered_windows windows = windows_of(mark, *held, day_begins, kind);
            if (mark.combination == 0 || mark.is_day_key || !windows.any()) continue;
            found.push_back(
                {.series = {.fingerprint = fingerprints[next], .windows = windows}, .combination = mark.combination});
        }
        std::ranges::sort(found, {}, [](const described& each) {
            return std::tuple{each.combination, each.series.windows, each.series.fingerprint};
        });
        // A combination that is freed when the lock is given back may get another meaning.
        std::optional<combination_number> last;
        for (described& each : found) {
            if (last != each.combination) made.budgets.push_back(budgets_of(*held, each.combination));
            last = each.combination;
            each.series.budgets = static_cast<std::uint32_t>(made.budgets.size() - 1);
            made.all.push_back(each.series);
        }
        found.clear();
    }
    return made;
}

void mark_told(series_limiter& limiter, const telling& done) {
    limiter_state& state = limiter.state();
    for (std::size_t next = 0; next < done.all.size();) {
        const auto held = state.commit.lock();
        if (state.sets.read()->hour_span != done.hour) return;
        for (const std::size_t end = std::min(done.all.size(), next + told_per_piece); next < end; ++next) {
            const telling::series& each = done.all[next];
            const bool is_in_hour = held->table->read().mark_of(each.fingerprint).seen >= held->hour_begins;
            const bool last = is_in_hour ? each.windows.hour : each.windows.before || each.windows.day;
            held->table->mark_told(each.fingerprint, {.last = last, .before = is_in_hour && each.windows.before});
        }
    }
}

std::uint64_t losses_of(const series_limiter& limiter) noexcept {
    return limiter.state().losses.load(std::memory_order_relaxed);
}

void note_lapse(series_limiter& limiter, std::int64_t hour) noexcept {
    limiter_state& state = limiter.state();
    if (state.lapsed_hour.exchange(hour) != hour) state.revision.fetch_add(1, std::memory_order_relaxed);
}

std::int64_t lapsed_hour_of(const series_limiter& limiter) noexcept {
    return limiter.state().lapsed_hour.load(std::memory_order_relaxed);
}

void tell_all(series_limiter& limiter) {
    auto next = std::make_unique<window_sets>();
    const auto held = limiter.state().commit.lock();
    *next = *limiter.state().sets.read();
    next->doubts_until = held->tells_all_until = held->hour_begins + 120;
    publish(limiter.state().sets, *held, std::move(next));
    limiter.state().losses.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace seriesgate
