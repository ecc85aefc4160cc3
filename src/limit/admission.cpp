#include "limit/admission.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

namespace seriesgate {
namespace {

using std::chrono::hours;
using std::chrono::minutes;

/// First segment of a window that nothing is known about: 400 KB.
constexpr std::uint64_t capacity_min = 1 << 17;

/// 2^19 series, 4 MiB: an explosion of that many distinct series is refused without the lock.
constexpr unsigned refused_capacity_log2 = 19;

/// A clock may be set back by this much without ending the running window.
constexpr auto step_back_max = hours{1};

/// How long before a window's end the next one's memory is made, sized by what this one has come to.
constexpr auto spare_lead = minutes{1};

/// Lookups in flight at once; the memory system of current machines keeps ten to twenty.
constexpr std::size_t prefetch_distance = 12;

}  // namespace

bool admission::windows::in_hour(time_point now) const noexcept {
    return now < hour_span.end && now >= hour_span.start - step_back_max;
}

bool admission::windows::cover(time_point now) const noexcept {
    return in_hour(now) && (!in_grace() || now < grace_end);
}

/// In the hour before, and in the day that it belonged to: the second filter is nearly independent of the first, so
/// a newcomer that a false positive takes for an incumbent, and that would take a true incumbent's slot, is as
/// rare as p^2.
bool admission::windows::is_incumbent(std::uint64_t fingerprint) const noexcept {
    return previous_hour && previous_hour->contains(fingerprint) && previous_day->contains(fingerprint);
}

bool admission::windows::knows(std::uint64_t fingerprint) const noexcept {
    return hour->contains(fingerprint) || day->contains(fingerprint) ||
           (previous_hour && previous_hour->contains(fingerprint));
}

admission::admission(const limit_settings& settings, time_point now)
    : settings_(settings),
      refused_(refused_capacity_log2),
      hourly_(settings.series_hourly_max),
      daily_(settings.series_daily_max),
      next_hour_(make_set(hourly_, 0)),
      next_day_(make_set(daily_, 0)),
      windows_(std::make_unique<windows>(windows{.hour_span = hour_of(now),
                                                 .day_span = day_of(now),
                                                 .hour = make_set(hourly_, 0),
                                                 .day = make_set(daily_, 0),
                                                 .previous_hour = {},
                                                 .previous_day = {},
                                                 .grace_end = hour_of(now).start})) {}

void admission::decide(std::span<const offered_series> offered, time_point now, std::span<verdict> verdicts,
                       admission_scratch& scratch) {
    assert(offered.size() == verdicts.size());
    scratch.pending.clear();
    scratch.followers.clear();
    {
        const auto current = read_windows(now);
        const admitted_set& hour = *current->hour;
        for (std::size_t i = 0; i < std::min(prefetch_distance, offered.size()); ++i)
            hour.prefetch(offered[i].fingerprint);

        for (std::size_t i = 0; i < offered.size(); ++i) {
            if (i + prefetch_distance < offered.size()) hour.prefetch(offered[i + prefetch_distance].fingerprint);
            const offered_series& series = offered[i];
            if (hour.contains(series.fingerprint)) {
                verdicts[i] = verdict::accepted;
                continue;
            }
            if (!series.admits) {
                scratch.followers.push_back(static_cast<std::uint32_t>(i));
                continue;
            }
            refused_.prefetch(series.fingerprint);
            scratch.pending.push_back(static_cast<std::uint32_t>(i));
        }
    }
    if (!scratch.pending.empty()) recall(offered, verdicts, scratch.pending);
    if (!scratch.pending.empty()) commit(offered, verdicts, scratch.pending);
    // After the others: an exemplar may stand before the sample that admits its series.
    if (!scratch.followers.empty()) follow(offered, verdicts, scratch.followers);
}

published<admission::windows>::reader admission::read_windows(time_point now) {
    if (!windows_.read()->cover(now)) advance(now);
    return windows_.read();
}

/// Decides about those that were refused lately, and takes them out of `pending`.
void admission::recall(std::span<const offered_series> offered, std::span<verdict> verdicts,
                       std::vector<std::uint32_t>& pending) {
    std::uint64_t samples_refused_hourly = 0;
    std::uint64_t samples_refused_daily = 0;
    std::erase_if(pending, [&](std::uint32_t i) {
        const auto known = refused_.lookup(offered[i].fingerprint);
        if (known == refused_cache::answer::unknown) return false;
        const bool by_hour = known == refused_cache::answer::refused_hourly;
        verdicts[i] = by_hour ? verdict::refused_hourly : verdict::refused_daily;
        (by_hour ? samples_refused_hourly : samples_refused_daily) += offered[i].samples;
        return true;
    });
    if (samples_refused_hourly != 0) hourly_.count_refused_samples(samples_refused_hourly);
    if (samples_refused_daily != 0) daily_.count_refused_samples(samples_refused_daily);
}

void admission::commit(std::span<const offered_series> offered, std::span<verdict> verdicts,
                       std::span<const std::uint32_t> pending) {
    const std::scoped_lock lock{commit_lock_};
    ++commits_;
    // Another request may have rolled over since the lookups; the series then counts in the new window.
    const auto current = windows_.read();
    for (std::size_t k = 0; k < pending.size(); ++k) {
        if (k + prefetch_distance < pending.size())
            current->day->prefetch(offered[pending[k + prefetch_distance]].fingerprint);
        verdicts[pending[k]] = admit(*current, offered[pending[k]]);
    }
}

void admission::follow(std::span<const offered_series> offered, std::span<verdict> verdicts,
                       std::span<const std::uint32_t> followers) const {
    const bool limited = hourly_.limits() || daily_.limits();
    const auto current = windows_.read();
    for (const std::uint32_t i : followers)
        verdicts[i] = !limited || current->knows(offered[i].fingerprint) ? verdict::accepted : verdict::refused_unknown;
}

verdict admission::admit(const windows& current, const offered_series& series) {
    const std::uint64_t fingerprint = series.fingerprint;
    // Twice in this request, or admitted by another one since the lookup.
    if (current.hour->contains(fingerprint)) return verdict::accepted;

    // Every budget must have room before any is touched: a refusal consumes nothing.
    const bool incumbent = current.in_grace() && current.is_incumbent(fingerprint);
    const bool new_in_day = !current.day->contains(fingerprint);
    if (!hourly_.has_room(incumbent)) return refuse(series, refusing_window::hourly);
    if (new_in_day && !daily_.has_room(incumbent)) return refuse(series, refusing_window::daily);

    hourly_.take(incumbent);
    current.hour->insert(fingerprint);
    if (new_in_day) {
        daily_.take(incumbent);
        current.day->insert(fingerprint);
    }
    return verdict::accepted;
}

verdict admission::refuse(const offered_series& series, refusing_window window) {
    // A series keeps the reason that it was first given, though the other budget may be spent by now too.
    const bool by_hour = refused_.insert(series.fingerprint, window) == refusing_window::hourly;
    budget& spent = by_hour ? hourly_ : daily_;
    spent.refuse(series.fingerprint);
    spent.count_refused_samples(series.samples);
    return by_hour ? verdict::refused_hourly : verdict::refused_daily;
}

void admission::advance(time_point now) {
    const std::scoped_lock lock{commit_lock_};
    auto next = std::make_unique<windows>(*windows_.read());
    if (next->cover(now)) return;  // another thread was first
    if (!next->in_hour(now)) {
        roll_over(*next, now);
    } else {  // the grace is over: what is still reserved lapses
        next->grace_end = next->hour_span.start;
        next->previous_day = nullptr;
        hourly_.expect(0);
        daily_.expect(0);
    }
    refused_.clear();  // budgets have room again, or no longer keep it for others
    windows_.publish(std::move(next));
}

void admission::roll_over(windows& next, time_point now) {
    const window_span hour = hour_of(now);
    const window_span day = day_of(now);
    const bool adjacent = hour.start == next.hour_span.end;
    const bool day_ends = day != next.day_span;
    const bool in_grace = adjacent && now < hour.start + settings_.incumbent_grace;
    const std::uint64_t incumbents = in_grace ? hourly_.current() : 0;

    next.previous_hour = adjacent ? next.hour : nullptr;
    next.previous_day = in_grace ? next.day : nullptr;
    next.grace_end = in_grace ? hour.start + settings_.incumbent_grace : hour.start;
    next.hour_span = hour;
    next.hour = next_hour_ ? std::exchange(next_hour_, nullptr) : make_set(hourly_, 0);
    hourly_.restart(incumbents);
    if (day_ends) {
        next.day_span = day;
        next.day = next_day_ ? std::exchange(next_day_, nullptr) : make_set(daily_, 0);
        daily_.restart(incumbents);
    } else {  // incumbents of this hour are in the day; a reservation left from midnight would never be claimed
        daily_.expect(0);
    }
}

void admission::maintain(time_point now) {
    const windows current = *read_windows(now);  // a copy: its shared pointers keep the sets while we work on them
    grow(*current.hour);
    grow(*current.day);
    const auto ends_soon = [now](const window_span& span) { return now >= span.end - spare_lead; };
    prepare_spare(next_hour_, hourly_, ends_soon(current.hour_span) ? current.hour->size() : 0);
    prepare_spare(next_day_, daily_, ends_soon(current.day_span) ? current.day->size() : 0);
    // Freeing a large set takes a while: not under the lock.
    const auto retired = [this] {
        const std::scoped_lock lock{commit_lock_};
        return windows_.reclaim();
    }();
}

void admission::grow(admitted_set& set) {
    if (!set.wants_segment()) return;
    auto segment = set.prepare_segment();
    const std::scoped_lock lock{commit_lock_};
    set.adopt(std::move(segment));
}

/// A spare that holds as many series as this window has serves: made anew for every further series, it would keep
/// maintenance zeroing memory through the last minute.
void admission::prepare_spare(std::shared_ptr<admitted_set>& spare, const budget& counted, std::uint64_t series_count) {
    const auto serves = [&] {
        const std::scoped_lock lock{commit_lock_};
        return spare && spare->first_capacity() >= std::max(capacity_min, series_count);
    };
    if (serves()) return;
    auto made = make_set(counted, series_count);
    const std::scoped_lock lock{commit_lock_};
    spare.swap(made);
}

admission_figures admission::figures() const {
    const auto of = [](const window_span& span, const budget& counted, const admitted_set& set) {
        return window_figures{.span = span,
                              .series_max = counted.max(),
                              .series_current = counted.current(),
                              .series_refused = counted.refused_series(),
                              .samples_refused = counted.refused_samples(),
                              .false_positive_rate = set.false_positive_rate(),
                              .filter_bytes = set.bytes()};
    };
    const std::scoped_lock lock{commit_lock_};
    const auto current = windows_.read();
    return {.hourly = of(current->hour_span, hourly_, *current->hour),
            .daily = of(current->day_span, daily_, *current->day),
            .commits = commits_};
}

/// An empty set for a window of `counted` after one of `series_count` series: it will hold about as many, and some
/// more.
std::shared_ptr<admitted_set> admission::make_set(const budget& counted, std::uint64_t series_count) const {
    std::uint64_t capacity = series_count + series_count / 8;
    if (counted.limits()) capacity = std::min(capacity, counted.max());
    capacity = std::max(capacity_min, capacity);
    return std::make_shared<admitted_set>(filter_spec{capacity, settings_.false_positive_rate}, counted.max());
}

}  // namespace seriesgate
