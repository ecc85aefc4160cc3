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

/// In the hour before, and in the day that it belonged to: unless the two hold the same, as in the first hour after a
/// start, the second filter is nearly independent of the first. So a newcomer that a false positive takes for an
/// incumbent, and that would take a true incumbent's slot, is as rare as p^2 (p in the hour after a start).
bool admission::windows::is_incumbent(std::uint64_t fingerprint) const noexcept {
    return previous_hour && previous_hour->contains(fingerprint) && previous_day->contains(fingerprint);
}

bool admission::windows::knows(std::uint64_t fingerprint) const noexcept {
    return hour->contains(fingerprint) || day->contains(fingerprint) ||
           (previous_hour && previous_hour->contains(fingerprint));
}

namespace {

std::shared_ptr<const limit_rules> rules_of(const limit_settings& settings) {
    return std::make_shared<const limit_rules>(
        limit_rules{.global = {.hourly = settings.series_hourly_max, .daily = settings.series_daily_max},
                    .mode = settings.mode,
                    .tenants = settings.tenants,
                    .limits = settings.limits,
                    .exempt = settings.exempt});
}

/// What the first segment of a set for so many series is sized for.
std::uint64_t first_capacity(std::uint64_t series_count, std::uint64_t capacity_max) {
    return std::max(capacity_min, capacity_max == 0 ? series_count : std::min(series_count, capacity_max));
}

}  // namespace

admission::admission(const limit_settings& settings, time_point now)
    : false_positive_rate_(settings.false_positive_rate),
      incumbent_grace_(settings.incumbent_grace),
      refused_(refused_capacity_log2),
      book_(rules_of(settings)),
      next_hour_(make_set(0, capacities_of(*book_.rules()).hourly)),
      next_day_(make_set(0, capacities_of(*book_.rules()).daily)),
      windows_(std::make_unique<windows>(windows{.hour_span = hour_of(now),
                                                 .day_span = day_of(now),
                                                 .hour = make_set(0, capacities_of(*book_.rules()).hourly),
                                                 .day = make_set(0, capacities_of(*book_.rules()).daily),
                                                 .previous_hour = {},
                                                 .previous_day = {},
                                                 .rules = book_.rules(),
                                                 .grace_end = hour_of(now).start})) {}

void admission::decide(std::span<const offered_series> offered, time_point now, std::span<verdict> verdicts,
                       admission_scratch& scratch, const request_origin& origin) {
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
    if (!scratch.pending.empty()) commit(offered, verdicts, scratch, origin);
    // After the others: an exemplar may stand before the sample that admits its series.
    if (!scratch.followers.empty()) follow(offered, verdicts, scratch, origin);
}

published<admission::windows>::reader admission::read_windows(time_point now) {
    if (!windows_.read()->cover(now)) advance(now);
    return windows_.read();
}

namespace {

verdict verdict_of(refused_cache::answer known) noexcept {
    switch (known) {
        case refused_cache::answer::refused_hourly:
            return verdict::refused_hourly;
        case refused_cache::answer::refused_daily:
            return verdict::refused_daily;
        case refused_cache::answer::rejected_hourly:
            return verdict::rejected_hourly;
        default:
            return verdict::rejected_daily;
    }
}

}  // namespace

/// Decides about those that were refused lately, and takes them out of `pending`.
void admission::recall(std::span<const offered_series> offered, std::span<verdict> verdicts,
                       std::vector<std::uint32_t>& pending) {
    std::uint64_t samples_refused_hourly = 0;
    std::uint64_t samples_refused_daily = 0;
    std::erase_if(pending, [&](std::uint32_t i) {
        const auto known = refused_.lookup(offered[i].fingerprint);
        if (known == refused_cache::answer::unknown) return false;
        verdicts[i] = verdict_of(known);
        const bool by_hour = verdicts[i] == verdict::refused_hourly || verdicts[i] == verdict::rejected_hourly;
        (by_hour ? samples_refused_hourly : samples_refused_daily) += offered[i].samples;
        return true;
    });
    const auto count = [](refusals& of, std::uint64_t samples) {
        if (samples != 0) of.samples.fetch_add(samples, std::memory_order_relaxed);
    };
    count(hourly_refusals_, samples_refused_hourly);
    count(daily_refusals_, samples_refused_daily);
}

namespace {

/// Evaluates the selectors for these entries, in their order.
void select(const limit_rules& rules, std::span<const std::uint32_t> entries, const request_origin& origin,
            rule_selections& selections) {
    selections.clear();
    const bool look = rules.look_at_labels() && origin.labels != nullptr;
    for (const std::uint32_t entry : entries)
        selections.append(rules, origin.tenant, look ? origin.labels->labels(entry) : std::span<const label_view>{});
}

}  // namespace

void admission::commit(std::span<const offered_series> offered, std::span<verdict> verdicts, admission_scratch& scratch,
                       const request_origin& origin) {
    const auto rules = windows_.read()->rules;
    select(*rules, scratch.pending, origin, scratch.selections);

    const std::scoped_lock lock{commit_lock_};
    ++commits_;
    revision_.fetch_add(1, std::memory_order_relaxed);
    if (book_.rules() != rules)  // a reload came in between
        select(*book_.rules(), scratch.pending, origin, scratch.selections);
    // Another request may have rolled over since the lookups; the series then counts in the new window.
    const auto current = windows_.read();
    for (std::size_t i = 0; i < scratch.pending.size(); ++i) {
        if (i + prefetch_distance < scratch.pending.size())
            current->day->prefetch(offered[scratch.pending[i + prefetch_distance]].fingerprint);
        const std::uint32_t entry = scratch.pending[i];
        // Twice in this request, or admitted by another one since the lookup.
        if (current->hour->contains(offered[entry].fingerprint)) {
            verdicts[entry] = verdict::accepted;
            continue;
        }
        verdicts[entry] = admit(*current, offered[entry], origin.tenant, scratch.selections[i], scratch.budgets);
    }
}

/// Stale markers and exemplars without samples: they pass if the series is known or nothing limits it, and never admit.
void admission::follow(std::span<const offered_series> offered, std::span<verdict> verdicts, admission_scratch& scratch,
                       const request_origin& origin) const {
    const auto current = windows_.read();
    std::erase_if(scratch.followers, [&](std::uint32_t i) {
        const std::uint64_t fingerprint = offered[i].fingerprint;
        const bool known = current->knows(fingerprint);
        verdicts[i] = known ? verdict::accepted : verdict::refused_unknown;
        // What was refused lately is limited: no need to look at its labels.
        return known || refused_.lookup(fingerprint) != refused_cache::answer::unknown;
    });
    select(*current->rules, scratch.followers, origin, scratch.selections);
    for (std::size_t i = 0; i < scratch.followers.size(); ++i)
        if (!is_limited(*current->rules, origin.tenant, scratch.selections[i]))
            verdicts[scratch.followers[i]] = verdict::accepted;
}

verdict admission::admit(const windows& current, const offered_series& series, std::string_view tenant,
                         const rule_selections::one& selection, std::vector<budget_pair*>& budgets) {
    const std::uint64_t fingerprint = series.fingerprint;
    const bool incumbent = current.in_grace() && current.is_incumbent(fingerprint);
    const bool new_in_day = !current.day->contains(fingerprint);

    // Every budget must have room before any is touched: a refusal consumes nothing. All are asked, so that each
    // budget that is spent knows of the demand.
    book_.find(tenant, selection, budgets);
    bool hour_refuses = false;
    bool day_refuses = false;
    bool rejected = false;
    for (budget_pair* pair : budgets) {
        if (pair == nullptr) continue;  // not there yet, so it has room
        const bool hour_spent = !pair->hourly.has_room(incumbent);
        const bool day_spent = new_in_day && !pair->daily.has_room(incumbent);
        if (hour_spent) pair->hourly.refuse(fingerprint);
        if (day_spent) pair->daily.refuse(fingerprint);
        if (!pair->enforces() || !(hour_spent || day_spent)) continue;
        hour_refuses |= hour_spent;
        day_refuses |= day_spent;
        rejected |= is_rejecting(*pair, tenant);
    }
    if (hour_refuses) return refuse(series, refusing_window::hourly, rejected);
    if (day_refuses) return refuse(series, refusing_window::daily, rejected);

    book_.make_missing(tenant, selection, budgets);
    for (budget_pair* pair : budgets) {
        pair->hourly.take(incumbent);
        if (new_in_day) pair->daily.take(incumbent);
    }
    current.hour->insert(fingerprint);
    if (new_in_day) current.day->insert(fingerprint);
    if (recording_) recorded_.push_back({fingerprint, new_in_day});
    return verdict::accepted;
}

bool admission::is_rejecting(const budget_pair& pair, std::string_view tenant) const {
    const limit_rules& rules = *book_.rules();
    if (pair.role.kind == budget_kind::group)
        if (const auto& own = rules.limits[pair.role.limit].answer) return *own == limit_answer::reject;
    return answer_of(rules, tenant) == limit_answer::reject;
}

verdict admission::refuse(const offered_series& series, refusing_window window, bool rejected) {
    // A series keeps the reason that it was first given, though the other budget may be spent by now too.
    const bool by_hour = refused_.insert(series.fingerprint, window, rejected) == refusing_window::hourly;
    refusals& of = by_hour ? hourly_refusals_ : daily_refusals_;
    of.series.insert(series.fingerprint);
    of.samples.fetch_add(series.samples, std::memory_order_relaxed);
    if (rejected) return by_hour ? verdict::rejected_hourly : verdict::rejected_daily;
    return by_hour ? verdict::refused_hourly : verdict::refused_daily;
}

void admission::reconfigure(const limit_settings& settings) {
    auto rules = rules_of(settings);
    false_positive_rate_ = settings.false_positive_rate;
    incumbent_grace_ = settings.incumbent_grace;
    const std::scoped_lock lock{commit_lock_};
    auto next = std::make_unique<windows>(*windows_.read());
    book_.reconfigure(rules);
    const series_maxima capacities = capacities_of(*rules);
    next->hour->set_capacity_max(capacities.hourly);
    next->day->set_capacity_max(capacities.daily);
    next->rules = std::move(rules);
    refused_.clear();
    windows_.publish(std::move(next));
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
        book_.for_each([](budget_pair& pair, std::string_view) {
            pair.hourly.reserve(0);
            pair.daily.reserve(0);
        });
    }
    refused_.clear();  // budgets have room again, or no longer keep it for others
    revision_.fetch_add(1, std::memory_order_relaxed);
    windows_.publish(std::move(next));
}

void admission::roll_over(windows& next, time_point now) {
    const window_span hour = hour_of(now);
    const window_span day = day_of(now);
    const bool adjacent = hour.start == next.hour_span.end;
    const bool day_ends = day != next.day_span;
    const auto grace_end = hour.start + incumbent_grace_.load();
    const bool in_grace = adjacent && now < grace_end;

    next.previous_hour = adjacent ? next.hour : nullptr;
    next.previous_day = in_grace ? next.day : nullptr;
    next.grace_end = in_grace ? grace_end : hour.start;
    next.hour_span = hour;
    const series_maxima capacities = capacities_of(*next.rules);
    const auto take_spare = [this](std::shared_ptr<admitted_set>& spare, std::uint64_t capacity_max) {
        auto set = spare ? std::exchange(spare, nullptr) : make_set(0, capacity_max);
        set->set_capacity_max(capacity_max);  // a reload may have come since the spare was made
        return set;
    };
    next.hour = take_spare(next_hour_, capacities.hourly);
    if (day_ends) {
        next.day_span = day;
        next.day = take_spare(next_day_, capacities.daily);
    }
    book_.drop_unused(day_ends);
    book_.for_each([&](budget_pair& pair, std::string_view) {
        const std::uint64_t incumbents = in_grace ? pair.hourly.current() + pair.hourly.beyond() : 0;
        pair.hourly.restart();
        pair.hourly.reserve(incumbents);
        if (day_ends) pair.daily.restart();
        // Within a day incumbents are in it, so a reservation left from midnight would never be claimed.
        pair.daily.reserve(day_ends ? incumbents : 0);
    });
    hourly_refusals_.clear();
    if (day_ends) daily_refusals_.clear();
}

void admission::maintain(time_point now) {
    const windows current = *read_windows(now);  // a copy: its shared pointers keep the sets while we work on them
    grow(*current.hour);
    grow(*current.day);
    const auto ends_soon = [now](const window_span& span) { return now >= span.end - spare_lead; };
    const series_maxima capacities = capacities_of(*current.rules);
    prepare_spare(next_hour_, ends_soon(current.hour_span) ? current.hour->size() : 0, capacities.hourly);
    prepare_spare(next_day_, ends_soon(current.day_span) ? current.day->size() : 0, capacities.daily);
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
void admission::prepare_spare(std::shared_ptr<admitted_set>& spare, std::uint64_t series_count,
                              std::uint64_t capacity_max) {
    const auto serves = [&] {
        const std::scoped_lock lock{commit_lock_};
        return spare && spare->first_capacity() >= first_capacity(series_count, capacity_max) &&
               spare->promised_rate() == false_positive_rate_.load();  // a reload may have changed it
    };
    if (serves()) return;
    auto made = make_set(series_count + series_count / 8, capacity_max);
    const std::scoped_lock lock{commit_lock_};
    spare.swap(made);
}

/// An empty set for about so many series.
std::shared_ptr<admitted_set> admission::make_set(std::uint64_t series_count, std::uint64_t capacity_max) const {
    return std::make_shared<admitted_set>(
        filter_spec{first_capacity(series_count, capacity_max), false_positive_rate_.load()}, capacity_max);
}

}  // namespace seriesgate
