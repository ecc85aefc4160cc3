#include "limit/commit_state.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

namespace seriesgate {

std::vector<late_keys::entry> late_keys::begin() noexcept {
    writing_ = true;
    return std::exchange(entries_, {});
}

void late_keys::write(std::uint64_t key, in_windows into) {
    if (entries_.size() < count_max) {
        entries_.push_back({.key = key, .into = into});
    } else {
        writing_ = false;
    }
}

late_keys::list late_keys::end() noexcept {
    return {.entries = std::exchange(entries_, {}), .complete = std::exchange(writing_, false)};
}

limit_number commit_state::limit_at(std::size_t place, const rule_selections::one& selection) const {
    if (!is_limit_place(place, selection)) return place == tenant_place ? tenant_limit : global_limit;
    return limit_numbers[selection.limit_index(selected_at(place, selection))];
}

void commit_state::remember(std::uint64_t key, in_windows into) {
    if (into.hour) hour->insert(key);
    if (into.day) day->insert(key);
    late.add(key, into);
    assert(!into.hour || hour->contains(key));
    assert(!into.day || day->contains(key));
}

void catch_up(guarded<commit_state>& counts) {
    for (;;) {
        const auto held = counts.lock();
        if (!held->budgets.is_behind()) return;
        held->budgets.catch_up(budgets_updated_per_piece);
    }
}

namespace {

using std::chrono::hours;

/// First segment if nothing is known about the window: 400 KB.
constexpr std::uint64_t capacity_min = 1 << 17;

/// Largest first segment if only the limit is known: 3 MB. A limit does not predict how many series come.
constexpr std::uint64_t capacity_by_limit_max = 1 << 20;

}  // namespace

bool window_sets::in_hour(time_point now) const noexcept {
    return now < hour_span.end && now >= hour_span.start - step_back;
}

bool window_sets::is_leap(time_point now) const noexcept {
    return now >= hour_span.end + hours{1} || now < hour_span.start - step_back;
}

bool window_sets::cover(time_point now) const noexcept {
    if (in_hour(now)) return (!in_grace() || now < grace_end) && (!lapse || now < *lapse);
    return leap && is_leap(now) && now >= *leap - step_back && now < *leap + clock_doubt;
}

/// The hour's and the day's set use different bit positions (day_set). So a new series passes as an incumbent only with
/// probability p^2, and rarely takes a real incumbent's room.
standing window_sets::standing_of(std::uint64_t fingerprint, bool in_day) const noexcept {
    if (!in_grace() || !previous_hour->contains(fingerprint)) return standing::new_series;
    const bool in_its_day = previous_day == day ? in_day : previous_day->contains(fingerprint);
    return in_its_day ? standing::incumbent : standing::new_series;
}

/// Like standing_of; but after the grace, a day's first hour no longer has the set of the day before.
bool window_sets::was_admitted_before(std::uint64_t fingerprint) const noexcept {
    if (!previous_hour || !previous_hour->contains(fingerprint)) return false;
    if (hour_span.start != day_span.start) return day->contains(fingerprint);
    return !previous_day || previous_day->contains(fingerprint);
}

bool window_sets::knows(std::uint64_t fingerprint) const noexcept {
    return hour->contains(fingerprint) || day->contains(fingerprint) ||
           (previous_hour && previous_hour->contains(fingerprint));
}

bool window_sets::is_whole() const noexcept {
    if (!hour || !day || !rules) return false;
    if (hour_span.end - hour_span.start != hours{1} || day_span.end - day_span.start != hours{24}) return false;
    return !in_grace() || (previous_hour && previous_day);
}

void sets_in_force::publish([[maybe_unused]] commit_state& held, std::unique_ptr<const window_sets> next) {
    assert(next->is_whole());
    assert(next->hour == held.hour && next->day == held.day);
    current_.publish(std::move(next));
}

std::uint64_t first_capacity(std::uint64_t series_count, std::uint64_t capacity_max) {
    if (capacity_max == 0) return std::max(capacity_min, series_count);
    const std::uint64_t wanted = std::max(series_count, capacity_by_limit_max);
    return std::max(capacity_min, std::min(wanted, capacity_max));
}

std::unique_ptr<admitted_set> make_set(std::uint64_t series_count, std::uint64_t capacity_max,
                                       double false_positive_rate) {
    return std::make_unique<admitted_set>(filter_spec{first_capacity(series_count, capacity_max), false_positive_rate},
                                          capacity_max);
}

}  // namespace seriesgate
