#include "limit/series_commit.hpp"

#include <algorithm>
#include <cassert>
#include <vector>

#include "limit/admission.hpp"
#include "limit/window_rotation.hpp"

namespace seriesgate {
namespace {

/// Budgets visited under one hold of the lock: some tens of microseconds.
constexpr std::size_t budgets_per_piece = 128;

}  // namespace

series_commit::series_commit(limiter_state& state, std::span<const offered_series> offered, time_point now,
                             std::span<verdict> verdicts, lookup_result& open, const request_origin& origin,
                             const fleet_decision* by_fleet)
    : state_(state),
      offered_(offered),
      now_(now),
      verdicts_(verdicts),
      open_(open),
      origin_(origin),
      by_fleet_(by_fleet) {
    assert(offered.size() == verdicts.size());
    assert(by_fleet == nullptr || by_fleet->pending.size() == open.pending.size());
}

bool series_commit::run() {
    if (by_fleet_ == nullptr && !select_rules(state_, open_, origin_)) return false;
    state_.commits.fetch_add(1, std::memory_order_relaxed);
    for (;;) {
        switch (run_piece()) {
            case piece_end::finished:
                return true;
            case piece_end::not_finished:
                break;
            case piece_end::other_rules:  // after a reload
                drop_decided();
                if (!select_rules(state_, open_, origin_)) return false;
                break;
            case piece_end::outdated:
                apply_outdated();
                if (!select_rules(state_, open_, origin_)) return false;
                break;
            case piece_end::sets_full:
                make_room(state_);
        }
    }
}

series_commit::piece_end series_commit::run_piece() {
    const auto held = state_.counts.lock();
    if (held->budgets.is_behind()) {
        held->budgets.catch_up(budgets_updated_per_piece);
        return piece_end::not_finished;
    }
    // Another request may have begun a new hour since lookup(); the series then counts in that hour.
    const auto current = state_.sets.read();
    if (by_fleet_ != nullptr && !is_current(*held, *current)) return piece_end::outdated;
    if (held->budgets.rules() != open_.rules) return piece_end::other_rules;
    state_.revision.fetch_add(1, std::memory_order_relaxed);
    held->minute = current->minute_at(now_);
    const bool is_lost = by_fleet_ != nullptr && by_fleet_->losses != state_.losses.load(std::memory_order_relaxed);
    admission one_by_one{*held, state_, *current, origin_.tenant, open_, origin_.are_stored, is_lost};
    for (std::size_t budgets_seen = 0;;) {
        const piece_end end = run_round(one_by_one, *current, budgets_seen);
        if (end != piece_end::finished || totals_ || !keeps_histograms_whole()) return end;
        totals_ = true;
        next_ = 0;
    }
}

series_commit::piece_end series_commit::run_round(admission& one_by_one, const window_sets& current,
                                                  std::size_t& budgets_seen) {
    for (std::size_t i = 0; i < admitted_set::prefetch_distance; ++i) prefetch(current, next_ + i);
    for (; next_ < open_.pending.size(); ++next_) {
        if (budgets_seen >= budgets_per_piece) return piece_end::not_finished;
        prefetch(current, next_ + admitted_set::prefetch_distance);
        ++budgets_seen;
        const auto family = keeps_histograms_whole() ? open_.families[next_] : histogram_family{};
        if (family.is_total != totals_) continue;
        const std::uint32_t entry = open_.pending[next_];
        const auto by_fleet = fleet_decision_of(next_);
        // Twice in this request, or admitted by another one since lookup().
        if (current.hour_has(offered_[entry].fingerprint)) {
            if (!current.counts_as_active(offered_[entry].fingerprint)) {  // idle until now
                if (!one_by_one.activate(offered_[entry], open_.selections[next_])) return piece_end::sets_full;
                budgets_seen += one_by_one.budgets_seen();
            }
            one_by_one.count_completed(by_fleet);
            verdicts_[entry] = verdict::known;
            continue;
        }
        if (by_fleet.outcome == decision_outcome::refused_with_histogram) {
            write(entry, one_by_one.refuse_with_histogram(offered_[entry], family, refusal_like(by_fleet), by_fleet),
                  {});
            continue;
        }
        const auto decided = one_by_one.decide(offered_[entry], family, open_.selections[next_], by_fleet);
        if (!decided) return piece_end::sets_full;
        write(entry, *decided, one_by_one.observing());
        budgets_seen += one_by_one.budgets_seen();
    }
    return piece_end::finished;
}

/// Whether the fleet's decision still holds: same hour, same rules.
bool series_commit::is_current(const commit_state& held, const window_sets& current) const noexcept {
    return by_fleet_->hour == current.hour_span && held.budgets.rules() == open_.rules;
}

/// Applies an outdated fleet decision to this request without remembering it. Series that the store was not asked about
/// stay pending; those that pass are entered by the rules and in the hour in force.
void series_commit::apply_outdated() {
    std::vector<pending_decision> passing;
    std::size_t left = 0;
    for (std::size_t i = 0; i < open_.pending.size(); ++i) {
        const std::uint32_t entry = open_.pending[i];
        const pending_decision& by_fleet = by_fleet_->pending[i];
        if (is_decided(i)) continue;
        if (by_fleet.outcome == decision_outcome::unasked || by_fleet.outcome == decision_outcome::passes) {
            open_.pending[left++] = entry;
            passing.push_back({.outcome = by_fleet.outcome});
        } else {
            const decision repeated =
                repeat(by_fleet, state_, offered_[entry], answer_of(*open_.rules, origin_.tenant));
            write(entry, repeated, {});
        }
    }
    open_.pending.resize(left);
    totals_ = false;
    next_ = 0;
    by_fleet_ = nullptr;
    left_.pending = std::move(passing);
}

void series_commit::write(std::uint32_t entry, const decision& decided, std::span<const spent_limit> observing) {
    verdicts_[entry] = decided.how;
    if (decided.beyond_exemption) open_.beyond_exemption.add(entry, offered_[entry].samples);
    if (is_refused(decided.how)) {
        open_.refused_by[entry] = decided.by;
        open_.newly_refused.push_back(entry);
    } else {
        (decided.is_arrival ? open_.newly_admitted : open_.returned).push_back(entry);
        const std::uint64_t samples = offered_[entry].samples;
        for (const auto& [limit, window] : observing)
            if (!open_.observed.add(limit, samples))
                open_.observed.begin({.limit = limit, .window = window, .first = entry, .samples = samples});
    }
}

/// Repeats the prefetch of lookup(), which may lie two thousand series back.
void series_commit::prefetch(const window_sets& current, std::size_t place) const {
    if (place >= open_.pending.size()) return;
    current.prefetch(offered_[open_.pending[place]].fingerprint);
}

pending_decision series_commit::fleet_decision_of(std::size_t place) const {
    if (by_fleet_ != nullptr) return by_fleet_->pending[place];
    return left_.pending.empty() ? pending_decision{} : left_.pending[place];
}

bool series_commit::is_decided(std::size_t place) const noexcept {
    const bool is_total = keeps_histograms_whole() && open_.families[place].is_total;
    return is_total == totals_ ? place < next_ : totals_;
}

/// Keeps only open series: after a reload the rounds may differ.
void series_commit::drop_decided() {
    std::size_t i = 0;
    std::erase_if(left_.pending, [&](const pending_decision&) { return is_decided(i++); });
    i = 0;
    std::erase_if(open_.pending, [&](std::uint32_t) { return is_decided(i++); });
    totals_ = false;
    next_ = 0;
}

std::optional<refusal> series_commit::refusal_like(const pending_decision& by_fleet) const noexcept {
    if (!by_fleet.like) return std::nullopt;
    const std::uint32_t entry = open_.pending[*by_fleet.like];
    if (!is_refused(verdicts_[entry])) return std::nullopt;
    return refusal{.how = verdicts_[entry], .by = open_.refused_by[entry]};
}

}  // namespace seriesgate
