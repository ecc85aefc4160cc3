#include "limit/admission.hpp"

#include <algorithm>
#include <cassert>
#include <optional>
#include <utility>

#include "core/kept_memory.hpp"
#include "limit/histogram_keys.hpp"

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
constexpr std::size_t prefetch_distance = 16;

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
bool admission::windows::is_incumbent(std::uint64_t fingerprint, bool in_day) const noexcept {
    if (!in_grace() || !previous_hour || !previous_hour->contains(fingerprint)) return false;
    return previous_day == day ? in_day : previous_day->contains(fingerprint);
}

bool admission::windows::knows(std::uint64_t fingerprint) const noexcept {
    return hour->contains(fingerprint) || day->contains(fingerprint) ||
           (previous_hour && previous_hour->contains(fingerprint));
}

namespace {

std::shared_ptr<const limit_rules> rules_of(const limit_settings& settings) {
    return std::make_shared<const limit_rules>(
        with_labels({.global = {.hourly = settings.series_hourly_max, .daily = settings.series_daily_max},
                     .mode = settings.mode,
                     .tenants = settings.tenants,
                     .limits = settings.limits,
                     .exempt = settings.exempt,
                     .whole_histograms = settings.whole_histograms}));
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

void admission_scratch::shrink() {
    give_back(pending);
    give_back(followers);
    selections.shrink();
    give_back(families);
    give_back(budgets);
}

bool admission::decide(std::span<const offered_series> offered, time_point now, std::span<verdict> verdicts,
                       admission_scratch& scratch, const request_origin& origin) {
    assert(offered.size() == verdicts.size());
    scratch.pending.clear();
    scratch.followers.clear();
    {
        const auto current = read_windows(now);
        const admitted_set& hour = *current->hour;
        const bool any_refused = !refused_.is_empty();
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
            if (any_refused) refused_.prefetch(series.fingerprint);
            scratch.pending.push_back(static_cast<std::uint32_t>(i));
        }
    }
    const recalled_samples recalled = recall(offered, verdicts, scratch.pending);
    if (!scratch.pending.empty() && !commit(offered, verdicts, scratch, origin)) return false;
    if (recalled.hourly != 0) hourly_refusals_.samples.fetch_add(recalled.hourly, std::memory_order_relaxed);
    if (recalled.daily != 0) daily_refusals_.samples.fetch_add(recalled.daily, std::memory_order_relaxed);
    // After the others: an exemplar may stand before the sample that admits its series.
    if (!scratch.followers.empty()) follow(offered, verdicts, scratch, origin);
    return true;
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

refusing_window window_of(refused_cache::answer known) noexcept {
    const verdict decided = verdict_of(known);
    const bool by_hour = decided == verdict::refused_hourly || decided == verdict::rejected_hourly;
    return by_hour ? refusing_window::hourly : refusing_window::daily;
}

}  // namespace

/// Decides about those that were refused lately, and takes them out of `pending`.
admission::recalled_samples admission::recall(std::span<const offered_series> offered, std::span<verdict> verdicts,
                                              std::vector<std::uint32_t>& pending) const {
    recalled_samples recalled;
    if (pending.empty() || refused_.is_empty()) return recalled;
    std::erase_if(pending, [&](std::uint32_t i) {
        const auto known = refused_.lookup(offered[i].fingerprint);
        if (known == refused_cache::answer::unknown) return false;
        verdicts[i] = verdict_of(known);
        const bool by_hour = window_of(known) == refusing_window::hourly;
        (by_hour ? recalled.hourly : recalled.daily) += offered[i].samples;
        return true;
    });
    return recalled;
}

namespace {

/// Evaluates the selectors for these entries, in their order.
/// @param families gets the histograms that they are part of, or stays empty if that is of no interest.
/// @return false if they ask for too much, see rule_selections.
bool select(const limit_rules& rules, std::span<const std::uint32_t> entries, const request_origin& origin,
            rule_selections& selections, std::vector<histogram_family>& families) {
    selections.clear();
    families.clear();
    const bool look = rules.look_at_labels() && origin.labels != nullptr;
    const bool look_for_families = look && rules.whole_histograms;
    for (const std::uint32_t entry : entries) {
        const auto labels = look ? origin.labels->labels(entry) : std::span<const label_view>{};
        if (!selections.append(rules, origin.tenant, labels)) return false;
        if (look_for_families) families.push_back(origin.labels->family(labels));
    }
    return true;
}

}  // namespace

bool admission::commit(std::span<const offered_series> offered, std::span<verdict> verdicts, admission_scratch& scratch,
                       const request_origin& origin) {
    const auto rules = windows_.read()->rules;
    if (!select(*rules, scratch.pending, origin, scratch.selections, scratch.families)) return false;

    const std::scoped_lock lock{commit_lock_};
    const bool same_rules = book_.rules() == rules;  // else a reload came in between
    if (!same_rules && !select(*book_.rules(), scratch.pending, origin, scratch.selections, scratch.families))
        return false;
    ++commits_;
    revision_.fetch_add(1, std::memory_order_relaxed);
    // Another request may have rolled over since the lookups; the series then counts in the new window.
    const auto current = windows_.read();
    const bool whole_histograms = !scratch.families.empty();
    tenant_of_request tenant{.name = origin.tenant};
    const auto prefetch = [&](std::size_t i) {
        if (i >= scratch.pending.size()) return;
        const std::uint64_t fingerprint = offered[scratch.pending[i]].fingerprint;
        current->hour->prefetch(fingerprint);  // again: the last time may be two thousand series ago
        current->day->prefetch(fingerprint);
        if (current->in_grace() && current->previous_hour) current->previous_hour->prefetch(fingerprint);
    };
    const auto admit_those = [&](bool totals) {
        for (std::size_t i = 0; i < prefetch_distance; ++i) prefetch(i);
        for (std::size_t i = 0; i < scratch.pending.size(); ++i) {
            prefetch(i + prefetch_distance);
            const histogram_family family = whole_histograms ? scratch.families[i] : histogram_family{};
            if (family.is_total != totals) continue;
            const std::uint32_t entry = scratch.pending[i];
            // Twice in this request, or admitted by another one since the lookup.
            if (current->hour->contains(offered[entry].fingerprint)) {
                verdicts[entry] = verdict::accepted;
                continue;
            }
            verdicts[entry] = admit(*current, offered[entry], family, tenant, scratch.selections[i], scratch.budgets);
        }
    };
    admit_those(false);
    // Sums and counts after the buckets, wherever they stand: a limit by metric has its buckets' budget spent first,
    // and must refuse the histogram before its sum has begun it.
    if (whole_histograms) admit_those(true);
    return true;
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
    const limit_rules& rules = *current->rules;
    const bool look = rules.look_at_labels() && origin.labels != nullptr;
    rule_selections& selections = scratch.selections;
    selections.clear();
    for (const std::uint32_t entry : scratch.followers) {
        const auto labels = look ? origin.labels->labels(entry) : std::span<const label_view>{};
        // Beyond what a request may ask for they stay unknown.
        if (!selections.append(rules, origin.tenant, labels)) return;
        const rule_selections::one selection = selections[selections.size() - 1];
        if (!selections.spend(override_work(rules, selection))) return;
        if (!is_limited(rules, origin.tenant, selection)) verdicts[entry] = verdict::accepted;
    }
}

namespace {

/// In which windows something holds for a series.
struct in_windows {
    bool hour = false;
    bool day = false;
};

/// Where an enforced budget has no room.
in_windows spent_windows(std::span<budget_pair* const> budgets, bool incumbent, bool new_in_day) {
    in_windows spent;
    for (const budget_pair* pair : budgets) {
        if (pair == nullptr || !pair->enforces()) continue;  // not there yet, so it has room
        spent.hour |= !pair->hourly.has_room(incumbent);
        spent.day |= new_in_day && !pair->daily.has_room(incumbent);
    }
    return spent;
}

}  // namespace

/// A series whose histogram has begun needs no room: where it finds none, it is admitted and counted all the same. One
/// whose histogram was refused is refused as that was, room or not; but incumbents flow on.
verdict admission::admit(const windows& current, const offered_series& series, const histogram_family& family,
                         tenant_of_request& tenant, const rule_selections::one& selection,
                         std::vector<budget_pair*>& budgets) {
    const std::uint64_t fingerprint = series.fingerprint;
    const bool new_in_day = !current.day->contains(fingerprint);
    const bool incumbent = current.is_incumbent(fingerprint, !new_in_day);
    // What is exempt needs no room, so it says nothing about the room of others.
    const bool in_histogram = family && !selection.exempt();
    const in_windows begun{.hour = in_histogram && current.hour->contains(family.fingerprint),
                           .day = in_histogram && current.day->contains(family.fingerprint)};

    // Every budget must have room before any is touched: a refusal consumes nothing.
    book_.find(tenant, selection, budgets);
    const in_windows spent = spent_windows(budgets, incumbent, new_in_day);
    using key = std::optional<std::uint64_t>;
    const key hour_key = spent.hour && begun.hour ? next_completing_key(*current.hour, family) : key{};
    const key day_key = spent.day && begun.day ? next_completing_key(*current.day, family) : key{};
    const in_windows refusing{.hour = spent.hour && !hour_key, .day = spent.day && !day_key};

    // All are asked, so that each budget that is spent knows of the demand.
    bool rejected = false;
    for (budget_pair* pair : budgets) {
        if (pair == nullptr) continue;
        const bool by_hour = (refusing.hour || !pair->enforces()) && !pair->hourly.has_room(incumbent);
        const bool by_day = (refusing.day || !pair->enforces()) && new_in_day && !pair->daily.has_room(incumbent);
        if (by_hour) pair->hourly.refuse(fingerprint);
        if (by_day) pair->daily.refuse(fingerprint);
        if (pair->enforces() && (by_hour || by_day)) rejected |= is_rejecting(*pair, tenant.name);
    }
    if (in_histogram && !begun.hour && !incumbent)
        if (const auto known = refused_.lookup(family.fingerprint); known != refused_cache::answer::unknown)
            return refuse(series, window_of(known), is_rejected(verdict_of(known)));
    if (refusing.hour || refusing.day) {
        const refusing_window window = refusing.hour ? refusing_window::hourly : refusing_window::daily;
        if (in_histogram && !begun.hour) refused_.insert(family.fingerprint, window, rejected);
        return refuse(series, window, rejected);
    }

    book_.make_missing(tenant, selection, budgets);
    for (budget_pair* pair : budgets) {
        pair->hourly.take(incumbent, pair->enforces());
        if (new_in_day) pair->daily.take(incumbent, pair->enforces());
    }
    remember(current, fingerprint, true, new_in_day);
    if (in_histogram) remember(current, family.fingerprint, !begun.hour, !begun.day);
    if (hour_key) remember(current, *hour_key, true, false);
    if (day_key) remember(current, *day_key, false, true);
    hourly_over_limit_ += hour_key ? 1 : 0;
    daily_over_limit_ += day_key ? 1 : 0;
    return verdict::accepted;
}

void admission::remember(const windows& current, std::uint64_t key, bool in_hour, bool in_day) {
    if (in_hour) current.hour->insert(key);
    if (in_day) current.day->insert(key);
    if (recording_ && (in_hour || in_day)) recorded_.push_back({.key = key, .in_hour = in_hour, .in_day = in_day});
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

/// The sets of running windows may hold what no limit counts: exempt series, and keys of histograms from before a
/// reload.
void admission::bound_sets(const windows& current, const limit_rules& rules) const {
    const series_maxima capacities = capacities_of(rules);
    const auto bound = [](admitted_set& set, std::uint64_t series_max, const budget& global) {
        const std::uint64_t uncounted = set.size() - std::min(set.size(), global.current());
        set.set_capacity_max(series_max == 0 ? 0 : series_max + uncounted);
    };
    bound(*current.hour, capacities.hourly, book_.global().hourly);
    bound(*current.day, capacities.daily, book_.global().daily);
}

void admission::reconfigure(const limit_settings& settings) {
    auto rules = rules_of(settings);
    false_positive_rate_ = settings.false_positive_rate;
    incumbent_grace_ = settings.incumbent_grace;
    const std::scoped_lock lock{commit_lock_};
    auto next = std::make_unique<windows>(*windows_.read());
    book_.reconfigure(rules);
    bound_sets(*next, *rules);
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
    hourly_over_limit_ = 0;
    if (day_ends) {
        daily_refusals_.clear();
        daily_over_limit_ = 0;
    }
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
