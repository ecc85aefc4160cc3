#include "limit/commit_state.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <new>
#include <utility>

namespace seriesgate {

std::vector<admitted_key> late_keys::begin() noexcept {
    writing_ = true;
    return std::exchange(entries_, {});
}

void late_keys::write(const admitted_key& key) noexcept try {
    writing_ = entries_.size() < count_max;
    if (writing_) entries_.push_back(key);
} catch (const std::bad_alloc&) {
    writing_ = false;
}

late_keys::list late_keys::end() noexcept {
    return {.entries = std::exchange(entries_, {}), .complete = std::exchange(writing_, false)};
}

limit_number commit_state::limit_at(std::size_t place, const rule_selections::one& selection) const {
    if (!is_limit_place(place, selection)) return place == tenant_place ? tenant_limit : global_limit;
    return limit_numbers[selection.limit_index(selected_at(place, selection))];
}
namespace {

std::uint64_t table_key(const admitted_key& of) noexcept {
    return of.into.hour ? of.key : day_set::elsewhere(of.key);
}

using std::chrono::hours;

/// First segment if nothing is known about the window: 400 KB.
constexpr std::uint64_t capacity_min = 1 << 17;

/// Largest first segment if only the limit is known: 3 MB. A limit does not predict how many series come.
constexpr std::uint64_t capacity_by_limit_max = 1 << 20;

}  // namespace

bool commit_state::have_room(std::span<const admitted_key> keys) const noexcept {
    if (!table) {
        const auto in_hour = std::ranges::count_if(keys, [](const auto& each) { return each.into.hour; });
        const auto in_day = std::ranges::count_if(keys, [](const auto& each) { return each.into.day; });
        return hour->has_room(static_cast<std::uint64_t>(in_hour)) &&
               day->filter().has_room(static_cast<std::uint64_t>(in_day));
    }
    std::array<std::uint64_t, series_table::keys_max> wanted{};
    std::size_t count = 0;
    for (const admitted_key& each : keys)
        if (each.into.any()) wanted[count++] = table_key(each);
    return count == 0 || table->find_room(std::span{wanted}.first(count));
}

void commit_state::remember(const admitted_key& added) {
    const std::uint64_t key = added.key;
    const in_windows into = added.into;
    if (!into.any()) return;
    late.add(added);
    if (!table) {
        if (into.hour) hour->insert(key);
        if (into.day) day->insert(key);
        assert(!into.hour || hour->contains(key));
        assert(!into.day || day->contains(key));
    } else if (into.hour) {
        enter_in_hour(key, added.combination, added.is_untold);
    } else {
        const std::uint64_t entered = table_key(added);
        const series_mark before = table->read().mark_of(entered);
        table->insert(entered, {.seen = minute, .was_before = was_before(before), .is_day_key = true});
    }
}

/// A series that was untold in the hour before is so still, and it may be untold in both hours. What this gate has only
/// heard of has no combination: after a loss of data it is told when it comes.
void commit_state::enter_in_hour(std::uint64_t fingerprint, combination_number combination, bool is_untold) noexcept {
    const series_mark before = table->read().mark_of(fingerprint);
    const bool is_in_hour = before.seen >= hour_begins;
    const bool is_told_anew = minute < tells_all_until && before.combination == 0;
    series_mark now{.seen = minute,
                    .was_before = was_before(before),
                    .combination = combination,
                    .is_untold = is_untold || (is_in_hour && (before.is_untold || is_told_anew))};
    if (combination == 0) now.is_untold = false;  // no series, but something that stands for one
    now.is_untold_before = combination != 0 && now.was_before &&
                           (is_told_anew || (is_in_hour ? before.is_untold_before : before.is_untold));
    table->insert(fingerprint, now);
    if (now.is_untold || now.is_untold_before) untold.add(fingerprint);
}

void commit_state::deactivate(std::uint64_t fingerprint) noexcept {
    const combination_number ended = table->deactivate(fingerprint);
    budgets.active().leave(ended);
    has_freed |= ended != 0;
}

void catch_up(guarded<commit_state>& commit) {
    for (;;) {
        const auto held = commit.lock();
        if (!held->budgets.is_behind()) return;
        held->budgets.catch_up(budgets_updated_per_piece);
    }
}

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

void window_sets::take_grace(const compiled_rules& of) noexcept {
    if (in_grace()) grace_end = hour_span.start + std::max(of.incumbent_grace, std::chrono::seconds{1});
}

minute_number window_sets::minute_at(time_point now) const noexcept {
    if (leap && is_leap(now)) return minute_before_leap;
    const minute_number first = minute_of(hour_span.start);
    return std::clamp(minute_of(std::chrono::floor<std::chrono::seconds>(now)), first, first + 59);
}

bool window_sets::hour_has(std::uint64_t key) const noexcept {
    if (table && table->read().mark_of(key).seen >= minute_of(hour_span.start)) return true;
    return hour && hour->contains(key);
}

bool window_sets::day_has(std::uint64_t fingerprint) const noexcept {
    if (table && table->read().mark_of(fingerprint).seen >= minute_of(day_span.start)) return true;
    return went_back ? day_has_key(fingerprint) : day && day->contains(fingerprint);
}

bool window_sets::day_has_key(std::uint64_t key) const noexcept {
    if (table && table->read().mark_of(day_set::elsewhere(key)).seen >= minute_of(day_span.start)) return true;
    return day && day->contains(key);
}

bool window_sets::table_has_before(std::uint64_t key) const noexcept {
    if (!table || !knows_hour_before) return false;
    return table->read().mark_of(key).was_in_hour_before(minute_of(hour_span.start));
}

bool window_sets::hour_before_has(std::uint64_t key) const noexcept {
    return table_has_before(key) || (previous_hour && previous_hour->contains(key));
}

bool window_sets::counts_as_active(std::uint64_t fingerprint) const noexcept {
    if (!table) return true;
    const series_mark mark = table->read().mark_of(fingerprint);
    return mark.combination != 0 && !mark.is_outdated;
}

void window_sets::prefetch(std::uint64_t fingerprint) const noexcept {
    if (table) table->read().prefetch(fingerprint);
    if (hour) hour->prefetch(fingerprint);
    if (day) day->prefetch(fingerprint);
    if (in_grace() && previous_hour) previous_hour->prefetch(fingerprint);
}

/// The hour's and the day's set use different bit positions (day_set). So a new series passes as an incumbent only with
/// probability p^2, and rarely takes a real incumbent's room.
standing window_sets::standing_of(std::uint64_t fingerprint, bool in_day) const noexcept {
    if (!in_grace()) return standing::new_series;
    if (table_has_before(fingerprint)) return standing::incumbent;
    if (!previous_hour || !previous_hour->contains(fingerprint)) return standing::new_series;
    const bool in_its_day = previous_day == day ? in_day : previous_day->contains(fingerprint);
    return in_its_day ? standing::incumbent : standing::new_series;
}

/// Like standing_of; but after the grace, a day's first hour no longer has the set of the day before.
bool window_sets::was_admitted_before(std::uint64_t fingerprint) const noexcept {
    if (table_has_before(fingerprint)) return true;
    if (!previous_hour || !previous_hour->contains(fingerprint)) return false;
    if (hour_span.start != day_span.start) return day->contains(fingerprint);
    return !previous_day || previous_day->contains(fingerprint);
}

bool window_sets::knows(std::uint64_t fingerprint) const noexcept {
    return hour_has(fingerprint) || day_has(fingerprint) || hour_before_has(fingerprint);
}

bool window_sets::is_whole() const noexcept {
    if (!rules || (!table && (!hour || !day))) return false;
    if (hour_span.end - hour_span.start != hours{1} || day_span.end - day_span.start != hours{24}) return false;
    return !in_grace() || (table && knows_hour_before) || (previous_hour && previous_day);
}

void publish(published<window_sets>& current, [[maybe_unused]] const commit_state& held,
             std::unique_ptr<const window_sets> next) {
    assert(next->is_whole());
    assert(next->hour == held.hour && next->day == held.day && next->table == held.table);
    current.publish(std::move(next));
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
