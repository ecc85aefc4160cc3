// The way of a series that is new: under the commit lock, in pieces.
#include <algorithm>
#include <optional>

#include "limit/histogram_keys.hpp"
#include "limit/limiter.hpp"
#include "limit/verdicts.hpp"

namespace seriesgate {
namespace {

/// Work under one hold of the lock, in budgets that are looked at: some tens of microseconds.
constexpr std::size_t budgets_per_piece = 128;

/// Budgets that are told of a new hour or of other rules in one piece: each takes up to a microsecond.
constexpr std::size_t told_per_piece = 64;

constexpr std::size_t prefetch_distance = admitted_set::prefetch_distance;

}  // namespace

/// A request on its way through the commit, and how far it has come.
struct series_limiter::commit_work {
    std::span<const offered_series> offered;
    std::span<verdict> verdicts;
    limiter_scratch& scratch;
    const request_origin& origin;
    std::shared_ptr<const compiled_rules> rules;  ///< by which the selectors were evaluated
    bool totals = false;                          ///< the second round, see commit()
    std::size_t next = 0;                         ///< index into scratch.pending

    /// Other rules may make other rounds of what is left, so only that is left.
    void drop_decided();
};

void series_limiter::commit_work::drop_decided() {
    const bool whole_histograms = !scratch.families.empty();
    std::size_t i = 0;
    std::erase_if(scratch.pending, [&](std::uint32_t) {
        const bool is_total = whole_histograms && scratch.families[i].is_total;
        const bool is_decided = is_total == totals ? i < next : totals;
        ++i;
        return is_decided;
    });
    totals = false;
    next = 0;
}

namespace {

/// Evaluates the selectors for these entries, in their order.
/// @param families gets the histograms that they are part of, or stays empty if that is of no interest.
/// @return false if they ask for too much, see rule_selections.
bool select(const compiled_rules& rules, std::span<const std::uint32_t> entries, const request_origin& origin,
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

/// Where histograms are kept whole, sums and counts come after the buckets, wherever they stand: a limit by metric has
/// its buckets' budget spent first, and must refuse the histogram before its sum has begun it.
bool series_limiter::commit(std::span<const offered_series> offered, std::span<verdict> verdicts,
                            limiter_scratch& scratch, const request_origin& origin) {
    commit_work work{.offered = offered,
                     .verdicts = verdicts,
                     .scratch = scratch,
                     .origin = origin,
                     .rules = windows_.read()->rules};
    if (!select(*work.rules, scratch.pending, origin, scratch.selections, scratch.families)) return false;
    commits_.fetch_add(1, std::memory_order_relaxed);
    for (;;) {
        switch (commit_piece(work)) {
            case piece_end::finished:
                return true;
            case piece_end::not_finished:
                break;
            case piece_end::other_rules:  // a reload came in between
                work.drop_decided();
                work.rules = windows_.read()->rules;
                if (!select(*work.rules, scratch.pending, origin, scratch.selections, scratch.families)) return false;
                break;
            case piece_end::sets_full:
                make_room();
        }
    }
}

/// As much as others can be asked to wait for.
series_limiter::piece_end series_limiter::commit_piece(commit_work& work) {
    const std::scoped_lock lock{commit_lock_};
    budget_book& book = counts_.book;
    if (book.is_behind()) {
        book.catch_up(told_per_piece);
        return piece_end::not_finished;
    }
    if (book.rules() != work.rules) return piece_end::other_rules;
    revision_.fetch_add(1, std::memory_order_relaxed);
    // Another request may have rolled over since the lookups; the series then counts in the new window.
    const auto current = windows_.read();
    const std::vector<std::uint32_t>& pending = work.scratch.pending;
    const bool whole_histograms = !work.scratch.families.empty();
    const auto prefetch = [&](std::size_t i) {
        if (i >= pending.size()) return;
        const std::uint64_t fingerprint = work.offered[pending[i]].fingerprint;
        current->hour->prefetch(fingerprint);  // again: the last time may be two thousand series ago
        current->day->prefetch(fingerprint);
        if (current->in_grace() && current->previous_hour) current->previous_hour->prefetch(fingerprint);
    };
    tenant_of_request tenant{.name = work.origin.tenant};
    std::size_t budgets_seen = 0;
    for (std::size_t i = 0; i < prefetch_distance; ++i) prefetch(work.next + i);
    for (;;) {
        for (std::size_t& i = work.next; i < pending.size(); ++i) {
            if (budgets_seen >= budgets_per_piece) return piece_end::not_finished;
            prefetch(i + prefetch_distance);
            ++budgets_seen;
            const histogram_family family = whole_histograms ? work.scratch.families[i] : histogram_family{};
            if (family.is_total != work.totals) continue;
            const std::uint32_t entry = pending[i];
            // Twice in this request, or admitted by another one since the lookup.
            if (current->hour->contains(work.offered[entry].fingerprint)) {
                work.verdicts[entry] = verdict::accepted;
                continue;
            }
            const auto decided =
                admit(*current, work.offered[entry], family, tenant, work.scratch.selections[i], work.scratch.budgets);
            if (!decided) return piece_end::sets_full;
            work.verdicts[entry] = *decided;
            budgets_seen += work.scratch.budgets.size();
        }
        if (work.totals || !whole_histograms) return piece_end::finished;
        work.totals = true;
        work.next = 0;
    }
}

namespace {

/// Where a budget has no room for a series.
in_windows spent_windows(const budget_pair& pair, bool incumbent, bool new_in_day) {
    return {.hour = !pair.hourly.has_room(incumbent), .day = new_in_day && !pair.daily.has_room(incumbent)};
}

/// Whether the sender is to be told of a refusal by the budget in this place, see budget_book::find.
bool is_rejecting(const compiled_rules& rules, std::string_view tenant, const rule_selections::one& selection,
                  std::size_t place) {
    if (place >= first_limit_place)
        if (const auto& own = rules.limits[selection.limit_index(place - first_limit_place)].answer)
            return *own == limit_answer::reject;
    return answer_of(rules, tenant) == limit_answer::reject;
}

}  // namespace

/// A series whose histogram has begun needs no room: where it finds none, it is admitted and counted all the same. One
/// whose histogram was refused is refused as that was, room or not; but incumbents flow on.
/// @return nothing if there is no room in the sets: then nothing has changed.
std::optional<verdict> series_limiter::admit(const windows& current, const offered_series& series,
                                             const histogram_family& family, tenant_of_request& tenant,
                                             const rule_selections::one& selection,
                                             std::vector<budget_pair*>& budgets) {
    const std::uint64_t fingerprint = series.fingerprint;
    budget_book& book = counts_.book;
    const bool new_in_day = !current.day->contains(fingerprint);
    const bool incumbent = current.is_incumbent(fingerprint, !new_in_day);
    // What is exempt needs no room, so it says nothing about the room of others.
    const bool in_histogram = family && !selection.exempt();
    const in_windows begun{.hour = in_histogram && current.hour->contains(family.fingerprint),
                           .day = in_histogram && current.day->contains(family.fingerprint)};

    // Every budget must have room before any is touched: a refusal consumes nothing.
    book.find(tenant, selection, budgets);
    const auto spent_at = [&](std::size_t place) {
        const budget_pair* const pair = budgets[place];
        if (pair != nullptr) return spent_windows(*pair, incumbent, new_in_day);
        in_windows spent = incumbent ? in_windows{} : book.spent_for_newcomers(tenant, selection, place);
        spent.day &= new_in_day;
        return spent;
    };
    in_windows spent;
    for (std::size_t place = 0; place < budgets.size(); ++place) {
        if (budgets[place] != nullptr && !budgets[place]->enforces()) continue;
        const in_windows here = spent_at(place);
        spent.hour |= here.hour;
        spent.day |= here.day;
    }
    using key = std::optional<std::uint64_t>;
    const key hour_key = spent.hour && begun.hour ? next_completing_key(*current.hour, family) : key{};
    const key day_key = spent.day && begun.day ? next_completing_key(*current.day, family) : key{};
    const in_windows refusing{.hour = spent.hour && !hour_key, .day = spent.day && !day_key};

    // All are asked, so that each budget that is spent knows of the demand.
    bool rejected = false;
    for (std::size_t place = 0; place < budgets.size(); ++place) {
        budget_pair* const pair = budgets[place];
        const bool enforces = pair == nullptr || pair->enforces();
        in_windows here = spent_at(place);
        here.hour &= refusing.hour || !enforces;
        here.day &= refusing.day || !enforces;
        if (pair != nullptr && here.hour) pair->hourly.refuse(fingerprint);
        if (pair != nullptr && here.day) pair->daily.refuse(fingerprint);
        if (enforces && (here.hour || here.day)) rejected |= is_rejecting(*book.rules(), tenant.name, selection, place);
    }
    if (in_histogram && !begun.hour && !incumbent)
        if (const auto known = refused_.lookup(family.fingerprint); known != refused_cache::answer::unknown)
            return refuse(series, window_of(known), is_rejected(verdict_of(known)));
    if (refusing.hour || refusing.day) {
        const refusing_window window = refusing.hour ? refusing_window::hourly : refusing_window::daily;
        if (in_histogram && !begun.hour) refused_.insert(family.fingerprint, window, rejected);
        return refuse(series, window, rejected);
    }

    const std::uint64_t hour_keys = 1u + (in_histogram ? 1u : 0u) + (hour_key ? 1u : 0u);
    const std::uint64_t day_keys = 1u + (in_histogram ? 1u : 0u) + (day_key ? 1u : 0u);
    if (!current.hour->has_room(hour_keys) || !current.day->filter().has_room(day_keys)) return std::nullopt;
    book.make_missing(tenant, selection, budgets);
    for (budget_pair* pair : budgets) {
        pair->hourly.take(incumbent, pair->enforces());
        if (new_in_day) pair->daily.take(incumbent, pair->enforces());
    }
    remember(current, fingerprint, true, new_in_day);
    if (in_histogram) remember(current, family.fingerprint, !begun.hour, !begun.day);
    if (hour_key) remember(current, *hour_key, true, false);
    if (day_key) remember(current, *day_key, false, true);
    counts_.hourly_over_limit += hour_key ? 1 : 0;
    counts_.daily_over_limit += day_key ? 1 : 0;
    return verdict::accepted;
}

void series_limiter::remember(const windows& current, std::uint64_t key, bool in_hour, bool in_day) {
    if (in_hour) current.hour->insert(key);
    if (in_day) current.day->insert(key);
    if (recording_ && (in_hour || in_day)) record(key, in_hour, in_day);
}

verdict series_limiter::refuse(const offered_series& series, refusing_window window, bool rejected) {
    // A series keeps the reason that it was first given, though the other budget may be spent by now too.
    const bool by_hour = refused_.insert(series.fingerprint, window, rejected) == refusing_window::hourly;
    refusals& of = by_hour ? counts_.hourly : counts_.daily;
    of.series.insert(series.fingerprint);
    of.samples.fetch_add(series.samples, std::memory_order_relaxed);
    if (rejected) return by_hour ? verdict::rejected_hourly : verdict::rejected_daily;
    return by_hour ? verdict::refused_hourly : verdict::refused_daily;
}

/// Tells the budgets what has happened to all of them, if they do not know yet.
void series_limiter::catch_up() const {
    for (;;) {
        const std::scoped_lock lock{commit_lock_};
        if (!counts_.book.is_behind()) return;
        counts_.book.catch_up(told_per_piece);
    }
}

}  // namespace seriesgate
