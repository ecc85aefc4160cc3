// Which sets are in force: hours and days that begin and end, and memory for them ahead of need.
#include <algorithm>
#include <optional>
#include <utility>

#include "limit/limiter.hpp"

namespace seriesgate {
namespace {

using std::chrono::hours;
using std::chrono::minutes;

/// First segment of a window that nothing is known about: 400 KB.
constexpr std::uint64_t capacity_min = 1 << 17;

/// First segment where only the limit is known, at most: 3 MB. A limit says how many may come, not how many will.
constexpr std::uint64_t capacity_by_limit_max = 1 << 20;

/// A clock may be set back by this much without ending the running window.
constexpr auto step_back_max = hours{1};

/// How long before a window's end the next one's memory is made, sized by what this one has come to.
constexpr auto spare_lead = minutes{1};

}  // namespace

bool series_limiter::windows::in_hour(time_point now) const noexcept {
    return now < hour_span.end && now >= hour_span.start - step_back_max;
}

bool series_limiter::windows::is_leap(time_point now) const noexcept {
    return now >= hour_span.end + hours{1} || now < hour_span.start - step_back_max;
}

bool series_limiter::windows::cover(time_point now) const noexcept {
    if (in_hour(now)) return !in_grace() || now < grace_end;
    return leap && is_leap(now) && now >= *leap - step_back_max && now < *leap + clock_doubt;
}

/// In the hour before, and in the day that it belonged to. The second looks for the series in other places (day_set),
/// so a newcomer that false positives take for an incumbent, and that would take a true incumbent's slot, is as rare as
/// p^2.
bool series_limiter::windows::is_incumbent(std::uint64_t fingerprint, bool in_day) const noexcept {
    if (!in_grace() || !previous_hour || !previous_hour->contains(fingerprint)) return false;
    return previous_day == day ? in_day : previous_day->contains(fingerprint);
}

bool series_limiter::windows::knows(std::uint64_t fingerprint) const noexcept {
    return hour->contains(fingerprint) || day->contains(fingerprint) ||
           (previous_hour && previous_hour->contains(fingerprint));
}

namespace {

/// What the first segment of a set for about so many series is sized for.
/// @param capacity_max how many can come; 0: any number.
std::uint64_t first_capacity(std::uint64_t series_count, std::uint64_t capacity_max) {
    if (capacity_max == 0) return std::max(capacity_min, series_count);
    const std::uint64_t wanted = std::max(series_count, capacity_by_limit_max);
    return std::max(capacity_min, std::min(wanted, capacity_max));
}

/// Whether the clock is where it leapt to still, long enough to be believed.
bool has_lasted(const std::optional<time_point>& leap, time_point now) {
    return leap && now >= *leap + clock_doubt && now < *leap + clock_doubt + hours{1};
}

}  // namespace

// --- rules

/// The sets of running windows may hold what no limit counts: exempt series, and keys of histograms from before a
/// reload.
void series_limiter::bound_sets(const windows& current, const compiled_rules& rules) const {
    const series_maxima capacities = capacities_of(rules);
    const auto bound = [](admitted_set& set, std::uint64_t series_max, const budget& global) {
        const std::uint64_t uncounted = set.size() - std::min(set.size(), global.current());
        set.set_capacity_max(series_max == 0 ? 0 : series_max + uncounted);
    };
    bound(*current.hour, capacities.hourly, counts_.book.global().hourly);
    bound(current.day->filter(), capacities.daily, counts_.book.global().daily);
}

void series_limiter::reconfigure(const limit_rules& wanted) {
    const auto rules = std::make_shared<const compiled_rules>(wanted);
    const auto described = shelf_rules_of(*rules);
    false_positive_rate_ = rules->false_positive_rate;
    incumbent_grace_ = rules->incumbent_grace;
    std::shared_ptr<void> gone;  // destroyed without the lock
    {
        const std::scoped_lock lock{commit_lock_};
        auto next = std::make_unique<windows>(*windows_.read());
        gone = counts_.book.reconfigure(rules, described);
        bound_sets(*next, *rules);
        next->rules = rules;
        refused_.clear();
        windows_.publish(std::move(next));
    }
    catch_up();
}

// --- time

void series_limiter::advance(time_point now) {
    while (!try_advance(now)) prepare_spares(now);
}

/// @return false if there is no memory for the next window yet.
bool series_limiter::try_advance(time_point now) {
    const std::scoped_lock lock{commit_lock_};
    auto next = std::make_unique<windows>(*windows_.read());
    if (next->cover(now)) return true;  // another thread was first
    if (next->is_leap(now) && !has_lasted(next->leap, now)) {
        next->leap = now;
        windows_.publish(std::move(next));
        return true;
    }
    if (!next->in_hour(now)) {
        if (!next_hour_ || !next_day_) return false;
        roll_over(*next, now);
    } else {  // the grace is over: what is still reserved lapses
        next->grace_end = next->hour_span.start;
        next->previous_day = nullptr;
        counts_.book.end_grace();
    }
    refused_.clear();  // budgets have room again, or no longer keep it for others
    revision_.fetch_add(1, std::memory_order_relaxed);
    windows_.publish(std::move(next));
    return true;
}

/// The clock has come back.
void series_limiter::forget_leap() {
    const std::scoped_lock lock{commit_lock_};
    auto next = std::make_unique<windows>(*windows_.read());
    next->leap = std::nullopt;
    windows_.publish(std::move(next));
}

void series_limiter::believe_leap(time_point now) {
    prepare_spares(now);
    const std::scoped_lock lock{commit_lock_};
    auto next = std::make_unique<windows>(*windows_.read());
    roll_over(*next, now);
    windows_.publish(std::move(next));
}

void series_limiter::roll_over(windows& next, time_point now) {
    const window_span hour = hour_of(now);
    const window_span day = day_of(now);
    const bool follows = hour.start == next.hour_span.end;
    const bool new_day = day != next.day_span;
    const auto grace_end = hour.start + incumbent_grace_.load();
    const bool in_grace = follows && now < grace_end;

    next.previous_hour = follows ? next.hour : nullptr;
    next.previous_day = in_grace ? next.day : nullptr;
    next.grace_end = in_grace ? grace_end : hour.start;
    next.hour_span = hour;
    next.leap = std::nullopt;
    const series_maxima capacities = capacities_of(*next.rules);
    const auto take = [](std::unique_ptr<admitted_set>& spare, std::uint64_t capacity_max) {
        spare->set_capacity_max(capacity_max);  // a reload may have come since the spare was made
        return std::exchange(spare, nullptr);
    };
    next.hour = take(next_hour_, capacities.hourly);
    if (new_day) {
        next.day_span = day;
        next.day = std::make_shared<day_set>(take(next_day_, capacities.daily));
    }
    counts_.book.begin_hour({.follows = follows, .in_grace = in_grace, .new_day = new_day});
    counts_.hourly.clear();
    counts_.hourly_over_limit = 0;
    if (new_day) {
        counts_.daily.clear();
        counts_.daily_over_limit = 0;
    }
}

// --- memory

void series_limiter::maintain(time_point now) {
    catch_up();
    const windows current = *read_windows(now);  // a copy: its shared pointers keep the sets while we work on them
    {
        const std::scoped_lock growth{growth_lock_};
        if (current.hour->wants_segment()) grow(*current.hour);
        if (current.day->filter().wants_segment()) grow(current.day->filter());
    }
    prepare_spares(now);
    catch_up();
    if (current.leap && current.in_hour(now)) forget_leap();
    // Freeing a large set takes a while: not under the lock.
    const auto retired = [this] {
        const std::scoped_lock lock{commit_lock_};
        return windows_.reclaim();
    }();
}

/// For who has found a set full: maintenance has fallen behind. One makes the memory, the others wait for it.
void series_limiter::make_room() {
    const std::scoped_lock growth{growth_lock_};
    const windows current = *windows_.read();
    const auto is_full = [this](const admitted_set& set) {
        const std::scoped_lock lock{commit_lock_};
        return !set.has_room(admitted_set::spare_capacity_min);
    };
    if (is_full(*current.hour)) grow(*current.hour);
    if (is_full(current.day->filter())) grow(current.day->filter());
}

/// Under the growth lock.
void series_limiter::grow(admitted_set& set) {
    auto segment = set.prepare_segment();
    const std::scoped_lock lock{commit_lock_};
    set.adopt(std::move(segment));
}

/// The next windows' sets. One that holds as many series as this window has serves: made anew for every further series,
/// it would keep maintenance zeroing memory through the last minute.
void series_limiter::prepare_spares(time_point now) {
    const windows current = *windows_.read();
    const series_maxima capacities = capacities_of(*current.rules);
    const auto prepare = [&](std::unique_ptr<admitted_set>& spare, const window_span& span, const admitted_set& running,
                             std::uint64_t capacity_max) {
        const std::uint64_t series_count = now >= span.end - spare_lead ? running.size() : 0;
        const double rate = false_positive_rate_.load();
        {
            const std::scoped_lock lock{commit_lock_};
            if (spare && spare->first_capacity() >= first_capacity(series_count, capacity_max) &&
                spare->promised_rate() == rate)  // a reload may have changed it
                return;
        }
        auto made = make_set(series_count + series_count / 8, capacity_max);
        const std::scoped_lock lock{commit_lock_};
        spare.swap(made);
    };
    prepare(next_hour_, current.hour_span, *current.hour, capacities.hourly);
    prepare(next_day_, current.day_span, current.day->filter(), capacities.daily);
}

/// An empty set for about so many series.
std::unique_ptr<admitted_set> series_limiter::make_set(std::uint64_t series_count, std::uint64_t capacity_max) const {
    return std::make_unique<admitted_set>(
        filter_spec{first_capacity(series_count, capacity_max), false_positive_rate_.load()}, capacity_max);
}

}  // namespace seriesgate
