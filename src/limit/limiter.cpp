// lookup() decides about known and lately refused series without a lock. series_commit.cpp decides about new ones.
#include "limit/limiter.hpp"

#include <algorithm>
#include <cassert>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "limit/admission.hpp"

namespace seriesgate {
namespace {

/// 2^19 series, 4 MiB: an explosion of that many distinct series is refused without the lock.
constexpr unsigned refused_capacity_log2 = 19;

std::unique_ptr<window_sets> first_sets(commit_state& held, time_point now, limit_scope scope, set_kind set) {
    const compiled_rules& rules = *held.budgets.rules();
    if (set == set_kind::exact) {
        held.table = std::make_shared<series_table>();
    } else {
        held.hour = make_set(0, capacities_of(rules).hourly, rules.false_positive_rate);
        held.day = std::make_shared<day_set>(make_set(0, capacities_of(rules).daily, rules.false_positive_rate));
    }
    auto first = std::make_unique<window_sets>();
    first->table = held.table;
    first->hour_span = hour_of(now);
    first->day_span = day_of(now);
    first->hour = held.hour;
    first->day = held.day;
    first->rules = held.budgets.rules();
    first->grace_end = first->hour_span.start;
    held.hour_begins = minute_of(first->hour_span.start);
    held.minute = held.watched_since = first->minute_at(now);
    if (scope == limit_scope::fleet) {
        first->lapse = first->hour_span.start + first->rules->incumbent_grace;
        first->step_back = step_back_in_fleet_max;
    }
    return first;
}

/// Looks each series up, with prefetches. A table is several times as large as a filter: often neither its lines
/// nor its directory are in a cache. So it is prefetched in two steps, from further ahead.
template <class Set, class IsKnown>
void find_known(std::span<const offered_series> offered, const Set& set, std::span<verdict> verdicts,
                lookup_result& open, const IsKnown& is_known) {
    constexpr bool is_table = std::is_same_v<Set, series_table::view>;
    constexpr std::size_t distance = (is_table ? 3 : 1) * admitted_set::prefetch_distance;
    if constexpr (is_table)
        for (const offered_series& each : offered.first(std::min(2 * distance, offered.size())))
            set.prefetch_place(each.fingerprint);
    for (const offered_series& each : offered.first(std::min(distance, offered.size()))) set.prefetch(each.fingerprint);
    for (std::size_t i = 0; i < offered.size(); ++i) {
        if constexpr (is_table)
            if (i + 2 * distance < offered.size()) set.prefetch_place(offered[i + 2 * distance].fingerprint);
        if (i + distance < offered.size()) set.prefetch(offered[i + distance].fingerprint);
        if (is_known(i))
            verdicts[i] = verdict::known;
        else
            open.pending.push_back(static_cast<std::uint32_t>(i));
    }
}

}  // namespace

limiter_state::limiter_state(std::shared_ptr<const compiled_rules> rules, time_point now,
                             const hash_key& instance_identity, limit_scope of, set_kind set)
    : key(instance_identity),
      scope(of),
      refused(refused_capacity_log2),
      commit(budget_table{rules, key, set}),
      sets(first_sets(*commit.lock(), now, of, set)) {
    assert(sets.read()->is_whole());
    assert(scope == limit_scope::gate || set == set_kind::exact);
    commit.lock()->limit_numbers = names.numbers_of(rules->limits);
}

series_limiter::series_limiter(const limit_rules& rules, time_point now, const hash_key& key, limit_scope scope,
                               set_kind set)
    : state_(std::make_unique<limiter_state>(std::make_shared<const compiled_rules>(rules), now, key, scope, set)) {
    prepare_spares(*state_, now);
}

bool series_limiter::decide(std::span<const offered_series> offered, time_point now, std::span<verdict> verdicts,
                            lookup_result& open, const request_origin& origin) {
    lookup(offered, now, verdicts, open);
    return open.is_empty() || commit(offered, now, verdicts, open, origin);
}

void series_limiter::lookup(std::span<const offered_series> offered, time_point now, std::span<verdict> verdicts,
                            lookup_result& open) {
    assert(offered.size() == verdicts.size());
    open.start();
    {
        const auto current = sets_in_force(*state_, now);
        open.hour = current->hour_span;
        if (current->table) {
            const minute_number first = minute_of(current->hour_span.start);
            const minute_number minute = current->minute_at(now);
            const admitted_set* const loaded = current->hour.get();
            const series_table::view table = current->table->read();
            const bool in_fleet = state_->is_shared();
            find_known(offered, table, verdicts, open, [&](std::size_t i) {
                const offered_series& series = offered[i];
                // A series that only a loaded filter has is not active yet: commit() enters it.
                if (series.admits) return table.touch(series.fingerprint, first, minute);
                const series_mark mark = table.mark_of(series.fingerprint);
                const bool is_active = mark.combination != 0;
                const bool is_known = mark.seen >= first || (loaded != nullptr && loaded->contains(series.fingerprint));
                if (series.samples != 0 && !in_fleet && (is_active || is_known))
                    (is_active ? open.ended : open.ended_if_revived).push_back(static_cast<std::uint32_t>(i));
                return is_known;
            });
        } else {
            const admitted_set& hour = *current->hour;
            find_known(offered, hour, verdicts, open,
                       [&](std::size_t i) { return hour.contains(offered[i].fingerprint); });
        }
    }
    if (!open.pending.empty()) lookup_refused(offered, verdicts, open);
}

/// Separates stale markers and exemplars from the unknown series, and refuses what the refused cache has. Refused
/// samples are counted only in commit(), because a request that needs too much must change nothing.
void series_limiter::lookup_refused(std::span<const offered_series> offered, std::span<verdict> verdicts,
                                    lookup_result& open) const {
    const refused_cache& refused = state_->refused;
    const bool any_refused = !refused.is_empty();
    const std::span<std::uint32_t> unknown = open.pending;
    if (open.refused_by.size() < offered.size()) open.refused_by.resize(offered.size());
    std::size_t left = 0;
    for (std::size_t at = 0; at < unknown.size(); ++at) {
        if (any_refused && at + admitted_set::prefetch_distance < unknown.size())
            refused.prefetch(offered[unknown[at + admitted_set::prefetch_distance]].fingerprint);
        const std::uint32_t i = unknown[at];
        const offered_series& series = offered[i];
        if (!series.admits) {
            open.non_admitting.push_back(i);
        } else if (const auto refusal = any_refused ? refused.lookup(series.fingerprint) : std::nullopt;
                   // In a fleet another gate may have got it admitted since this gate refused it.
                   refusal && !(state_->is_shared() && hour_has(series.fingerprint))) {
            verdicts[i] = refusal->how;
            open.refused_by[i] = refusal->limit;
            open.recalled[static_cast<std::size_t>(window_of(refusal->how))] += series.samples;
        } else {
            unknown[left++] = i;
        }
    }
    open.pending.resize(left);
}

/// The hour has ended since lookup(): what was refused in it is pending again. Known series stay accepted.
void series_limiter::reopen(std::span<const verdict> verdicts, lookup_result& open) const {
    std::vector<std::uint32_t> all;
    auto pending = open.pending.cbegin();
    auto other = open.non_admitting.cbegin();
    for (std::uint32_t i = 0; i < verdicts.size(); ++i) {
        const bool is_pending = pending != open.pending.cend() && *pending == i;
        const bool admits_nothing = other != open.non_admitting.cend() && *other == i;
        if (is_pending) ++pending;
        if (admits_nothing) ++other;
        if (is_pending || (!admits_nothing && is_refused(verdicts[i]))) all.push_back(i);
    }
    open.pending = std::move(all);
    open.recalled = {};
}

bool series_limiter::select(std::span<const offered_series> offered, lookup_result& open,
                            const request_origin& origin) {
    if (!select_rules(*state_, open, origin)) return false;
    if (!open.rules->exempt.empty()) end_exemptions(offered, open, origin.tenant);
    return true;
}

/// Finds the exempt series for which the exempt limit has no room, so that the store is asked about them. Another
/// request may still take the last room before commit(). Such a series is refused as without a fleet decision, and not
/// remembered: the store is asked about it next time.
void series_limiter::end_exemptions(std::span<const offered_series> offered, lookup_result& open,
                                    std::string_view tenant) const {
    constexpr std::size_t series_per_piece = 128;
    for (std::size_t next = 0; next < open.pending.size();) {
        catch_up(state_->commit);
        const auto held = state_->commit.lock();
        if (held->budgets.is_behind()) continue;
        if (held->budgets.rules() != open.rules) return;  // commit() selects again
        const auto current = state_->sets.read();
        admission foreseeing{*held, *state_, *current, tenant, open};
        const std::size_t end = std::min(open.pending.size(), next + series_per_piece);
        for (; next < end; ++next) {
            const auto selection = open.selections[next];
            if (selection.exempt() && foreseeing.is_beyond_exemption(offered[open.pending[next]], selection))
                open.selections.end_exemption(next);
        }
    }
}

bool series_limiter::commit(std::span<const offered_series> offered, time_point now, std::span<verdict> verdicts,
                            lookup_result& open, const request_origin& origin, const fleet_decision* by_fleet) {
    assert(offered.size() == verdicts.size());
    // A fleet does not reopen: the store was not asked about these. It is asked when they come again.
    if (sets_in_force(*state_, now)->hour_span != open.hour && !state_->is_shared()) reopen(verdicts, open);
    if (!open.pending.empty() && !commit_series(*state_, offered, now, verdicts, open, origin, by_fleet)) return false;
    for (const auto window : {refusing_window::hourly, refusing_window::daily, refusing_window::active})
        if (const auto samples = open.recalled[static_cast<std::size_t>(window)]; samples != 0) {
            state_->samples.add(window, samples);
            state_->revision.fetch_add(1, std::memory_order_relaxed);
        }
    // Last, because an exemplar may precede the sample that admits its series.
    if (!open.non_admitting.empty()) resolve_stale(offered, verdicts, open, origin, by_fleet);
    open.ended.insert(open.ended.end(), open.ended_if_revived.begin(), open.ended_if_revived.end());
    end_activity(offered, open);
    return true;
}

/// Ends the activity of series with stale markers. Comes after the new series, because a request that needs too much
/// must change nothing.
void series_limiter::end_activity(std::span<const offered_series> offered, lookup_result& open) const {
    constexpr std::size_t series_per_piece = 128;
    if (!open.ended.empty()) state_->revision.fetch_add(1, std::memory_order_relaxed);
    for (std::size_t next = 0; next < open.ended.size();) {
        const auto held = state_->commit.lock();
        const std::size_t end = std::min(open.ended.size(), next + series_per_piece);
        for (; next < end; ++next) held->deactivate(offered[open.ended[next]].fingerprint);
    }
    open.ended.clear();
}

/// Stale markers and exemplars without samples pass if the series is known or unlimited. They never admit a series.
void series_limiter::resolve_stale(std::span<const offered_series> offered, std::span<verdict> verdicts,
                                   lookup_result& open, const request_origin& origin,
                                   const fleet_decision* by_fleet) const {
    std::shared_ptr<const compiled_rules> in_force;
    {
        const auto current = state_->sets.read();
        in_force = current->rules;
        std::size_t at = 0;
        std::erase_if(open.non_admitting, [&](std::uint32_t i) {
            const std::uint64_t fingerprint = offered[i].fingerprint;
            const bool known_to_others = by_fleet != nullptr && by_fleet->known_non_admitting[at];
            ++at;
            const bool known = known_to_others || current->knows(fingerprint);
            if (known && current->table && offered[i].samples != 0 && !state_->is_shared()) open.ended.push_back(i);
            verdicts[i] = known ? verdict::known : verdict::unknown;
            // A series refused lately is limited; its labels need no check.
            return known || state_->refused.lookup(fingerprint).has_value();
        });
    }
    if (origin.are_ignored_values) return;  // an ignored value that admits nothing stays unknown
    const compiled_rules& rules = *in_force;
    const bool look = rules.look_at_labels() && origin.labels != nullptr;
    rule_selections& selections = open.selections;
    selections.clear();
    for (const std::uint32_t entry : open.non_admitting) {
        const auto labels = look ? origin.labels->labels(entry) : std::span<const label_view>{};
        // If the work limit is reached, all others stay unknown.
        if (!selections.append(rules, origin.tenant, labels)) return;
        rule_selections::one selection = selections[selections.size() - 1];
        // Nobody knows whether the exempt limit or the others would have counted it: the others decide.
        if (selection.exempt() && rules.exempt_series_max != 0) selection = selection.without_exemption();
        if (!selections.spend(override_work(rules, selection))) return;
        if (!is_limited(rules, origin.tenant, selection)) verdicts[entry] = verdict::known;
    }
}

}  // namespace seriesgate
