// Finds the limits of the open series, and commits them.
#include <cassert>
#include <span>
#include <vector>

#include "core/bytes.hpp"
#include "limit/admission.hpp"
#include "limit/limiter_state.hpp"
#include "limit/lookup_result.hpp"
#include "limit/window_rotation.hpp"

namespace seriesgate {

void lookup_result::shrink() {
    rules = nullptr;
    selections.shrink();
    give_back_all(pending, non_admitting, ended, ended_if_revived, refused_by, newly_admitted, newly_refused, returned,
                  families, budgets, counted_in, observing);
}

bool select_rules(const limiter_state& state, lookup_result& open, const request_origin& origin) {
    open.rules = state.sets.read()->rules;
    open.selections.clear();
    open.families.clear();
    if (origin.are_ignored_values) {
        assert(open.rules->ignores_labels);
        for (std::size_t i = 0; i < open.pending.size(); ++i)
            if (!open.selections.append_ignored_value(*open.rules, origin.tenant)) return false;
        return true;
    }
    const bool look = open.rules->look_at_labels() && origin.labels != nullptr;
    const bool look_for_families = look && open.rules->whole_histograms;
    for (const std::uint32_t entry : open.pending) {
        const auto labels = look ? origin.labels->labels(entry) : std::span<const label_view>{};
        if (!open.selections.append(*open.rules, origin.tenant, labels)) return false;
        if (!look_for_families) continue;
        open.families.push_back(origin.labels->family(entry, labels));
        if (open.families.back() && !open.selections.spend(histogram_work(labels))) return false;
    }
    assert(open.selections.size() == open.pending.size());
    return true;
}

namespace {

/// Budgets visited under one hold of the lock: some tens of microseconds.
constexpr std::size_t budgets_per_piece = 128;

/// The commit of one request. What it refers to outlives it.
struct series_commit {
    limiter_state& state;
    std::span<const offered_series> offered;
    time_point now;
    std::span<verdict> verdicts;
    lookup_result& open;
    const request_origin& origin;
    const fleet_decision* fleet;
    fleet_decision still_passing{};  ///< of an outdated decision: what passes all the same
    bool in_totals = false;          ///< in the second round: sums and counts
    std::size_t next = 0;            ///< index into open.pending

    enum class piece_end : std::uint8_t { finished, not_finished, other_rules, outdated, sets_full };

    [[nodiscard]] bool keeps_histograms_whole() const noexcept { return !open.families.empty(); }

    bool run() {
        if (fleet == nullptr && !select_rules(state, open, origin)) return false;
        state.commits.fetch_add(1, std::memory_order_relaxed);
        for (;;) {
            switch (run_piece()) {
                case piece_end::finished:
                    return true;
                case piece_end::not_finished:
                    break;
                case piece_end::other_rules:  // after a reload
                    drop_decided();
                    if (!select_rules(state, open, origin)) return false;
                    break;
                case piece_end::outdated:
                    apply_outdated();
                    if (!select_rules(state, open, origin)) return false;
                    break;
                case piece_end::sets_full:
                    make_room(state);
            }
        }
    }

    piece_end run_piece() {
        const auto held = state.commit.lock();
        if (held->budgets.is_behind()) {
            held->budgets.catch_up(budgets_updated_per_piece);
            return piece_end::not_finished;
        }
        // Another request may have begun a new hour since lookup(); the series then counts in that hour.
        const auto current = state.sets.read();
        if (fleet != nullptr && !is_current(*held, *current)) return piece_end::outdated;
        if (held->budgets.rules() != open.rules) return piece_end::other_rules;
        state.revision.fetch_add(1, std::memory_order_relaxed);
        held->minute = current->minute_at(now);
        const bool is_lost = fleet != nullptr && fleet->losses != state.losses.load(std::memory_order_relaxed);
        admission one_by_one{*held, state, *current, origin.tenant, open, origin.are_stored, is_lost};
        for (std::size_t budgets_seen = 0;;) {
            const piece_end end = run_round(one_by_one, *current, budgets_seen);
            if (end != piece_end::finished || in_totals || !keeps_histograms_whole()) return end;
            in_totals = true;
            next = 0;
        }
    }

    piece_end run_round(admission& one_by_one, const window_sets& current, std::size_t& budgets_seen) {
        for (std::size_t i = 0; i < admitted_set::prefetch_distance; ++i) prefetch(current, next + i);
        for (; next < open.pending.size(); ++next) {
            if (budgets_seen >= budgets_per_piece) return piece_end::not_finished;
            prefetch(current, next + admitted_set::prefetch_distance);
            ++budgets_seen;
            const auto family = keeps_histograms_whole() ? open.families[next] : histogram_family{};
            if (family.is_total != in_totals) continue;
            const std::uint32_t entry = open.pending[next];
            const auto by_fleet = fleet_decision_of(next);
            // Twice in this request, or admitted by another one since lookup().
            if (current.hour_has(offered[entry].fingerprint)) {
                if (!current.counts_as_active(offered[entry].fingerprint)) {  // idle until now
                    if (!one_by_one.activate(offered[entry], open.selections[next])) return piece_end::sets_full;
                    budgets_seen += one_by_one.budgets_seen();
                }
                one_by_one.count_completed(by_fleet);
                verdicts[entry] = verdict::known;
                continue;
            }
            if (by_fleet.outcome == decision_outcome::refused_with_histogram) {
                write(entry, one_by_one.refuse_with_histogram(offered[entry], family, refusal_like(by_fleet), by_fleet),
                      {});
                continue;
            }
            const auto decided = one_by_one.decide(offered[entry], family, open.selections[next], by_fleet);
            if (!decided) return piece_end::sets_full;
            write(entry, *decided, one_by_one.observing());
            budgets_seen += one_by_one.budgets_seen();
        }
        return piece_end::finished;
    }

    /// Whether the fleet's decision still holds: same hour, same rules.
    bool is_current(const commit_state& held, const window_sets& current) const noexcept {
        return fleet->hour == current.hour_span && held.budgets.rules() == open.rules;
    }

    /// Applies an outdated fleet decision to this request without remembering it. Series that the store was not asked
    /// about stay pending; those that pass are entered by the rules and in the hour in force.
    void apply_outdated() {
        std::vector<pending_decision> passing;
        std::size_t left = 0;
        for (std::size_t i = 0; i < open.pending.size(); ++i) {
            const std::uint32_t entry = open.pending[i];
            const pending_decision& by_fleet = fleet->pending[i];
            if (is_decided(i)) continue;
            if (by_fleet.outcome == decision_outcome::unasked || by_fleet.outcome == decision_outcome::passes) {
                open.pending[left++] = entry;
                passing.push_back({.outcome = by_fleet.outcome});
            } else {
                const decision repeated =
                    apply_unremembered(by_fleet, state, offered[entry], answer_of(*open.rules, origin.tenant));
                write(entry, repeated, {});
            }
        }
        open.pending.resize(left);
        in_totals = false;
        next = 0;
        fleet = nullptr;
        still_passing.pending = std::move(passing);
    }

    void write(std::uint32_t entry, const decision& decided, std::span<const spent_limit> observing) {
        verdicts[entry] = decided.how;
        if (decided.beyond_exemption) open.beyond_exemption.add(entry, offered[entry].samples);
        if (is_refused(decided.how)) {
            open.refused_by[entry] = decided.limit;
            open.newly_refused.push_back(entry);
        } else {
            (decided.is_arrival ? open.newly_admitted : open.returned).push_back(entry);
            const std::uint64_t samples = offered[entry].samples;
            for (const auto& [limit, window] : observing)
                if (!open.observed.add(limit, samples))
                    open.observed.begin({.limit = limit, .window = window, .first = entry, .samples = samples});
        }
    }

    /// Repeats the prefetch of lookup(), which may lie two thousand series back.
    void prefetch(const window_sets& current, std::size_t place) const {
        if (place >= open.pending.size()) return;
        current.prefetch(offered[open.pending[place]].fingerprint);
    }

    pending_decision fleet_decision_of(std::size_t place) const {
        if (fleet != nullptr) return fleet->pending[place];
        return still_passing.pending.empty() ? pending_decision{} : still_passing.pending[place];
    }

    bool is_decided(std::size_t place) const noexcept {
        const bool is_total = keeps_histograms_whole() && open.families[place].is_total;
        return is_total == in_totals ? place < next : in_totals;
    }

    /// Keeps only open series: after a reload the rounds may differ.
    void drop_decided() {
        std::size_t i = 0;
        std::erase_if(still_passing.pending, [&](const pending_decision&) { return is_decided(i++); });
        i = 0;
        std::erase_if(open.pending, [&](std::uint32_t) { return is_decided(i++); });
        in_totals = false;
        next = 0;
    }

    std::optional<refusal> refusal_like(const pending_decision& by_fleet) const noexcept {
        if (!by_fleet.like || !is_decided(*by_fleet.like)) return std::nullopt;
        const std::uint32_t entry = open.pending[*by_fleet.like];
        if (!is_refused(verdicts[entry])) return std::nullopt;
        return refusal{.how = verdicts[entry], .limit = open.refused_by[entry]};
    }
};

}  // namespace

bool commit_series(limiter_state& state, std::span<const offered_series> offered, time_point now,
                   std::span<verdict> verdicts, lookup_result& open, const request_origin& origin,
                   const fleet_decision* by_fleet) {
    assert(offered.size() == verdicts.size());
    assert(by_fleet == nullptr || by_fleet->pending.size() == open.pending.size());
    return series_commit{state, offered, now, verdicts, open, origin, by_fleet}.run();
}

}  // namespace seriesgate
