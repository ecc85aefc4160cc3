/// The limiter: decides about every series of a request, by lookup() without a lock and commit() under it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "core/state_stream.hpp"
#include "limit/limiter_state.hpp"
#include "limit/lookup_result.hpp"
#include "limit/window_rotation.hpp"
#include "series/fingerprint.hpp"

namespace seriesgate {

/// Admits series into the current hour and day.
///
/// There is one admitted set per window, or one table for all of them (set_kind), and many budgets. lookup() asks only
/// the hour's set; budgets are counters that commit() uses for new series. The day's set contains the hour's.
///
/// Exact: new series are decided and counted under one lock. No race exceeds a budget, nothing is counted twice, and a
/// refusal consumes nothing. There are two exceptions. A false positive of a filter lets a series pass uncounted; a
/// table has none. limit_rules::false_positive_rate bounds the rate, since a full set grows first. And
/// limit_rules::whole_histograms admits within a margin, see admission.hpp.
///
/// The commit lock is fair. Long work (a large request, a save, figures, a new hour) gives it back after a fraction of
/// a millisecond.
///
/// Threads: maintain() one, all others any. A lookup_result and the spans belong to the caller.
class series_limiter {
  public:
    /// @param key of this installation, for the hash tables by tenant and group.
    /// @param scope fleet: select() and commit() follow the fleet decision.
    /// @param set exact: in a fleet active series are neither limited nor shown.
    series_limiter(const limit_rules& rules, time_point now, const hash_key& key = hash_key::known_to_all(),
                   limit_scope scope = limit_scope::gate, set_kind set = set_kind::bloom);

    /// First step: decides about known series and those refused lately. Takes no lock, allocates nothing once the
    /// buffers have grown, and reads one cache line per series.
    /// @param verdicts as many as `offered`.
    /// @param open filled with the series that are left for commit(); is_empty() if there are none.
    void lookup(std::span<const offered_series> offered, time_point now, std::span<verdict> verdicts,
                lookup_result& open);

    /// Fleet, second step: finds the limits of the pending series, so that the caller can ask the store. The store is
    /// asked about an exempt series only if this gate's exempt limit has no room.
    /// @return as commit().
    bool select(std::span<const offered_series> offered, lookup_result& open, const request_origin& origin);

    /// Last step: decides about the open series, in order, by all budgets. New series count in the hour of `now`,
    /// however long after lookup(). Throws std::bad_alloc if memory runs out; then some series may have been admitted.
    /// @param by_fleet the fleet decision about all of `open`. In a fleet without it, no series is admitted that a
    /// shared limit may refuse.
    /// @return false if the rules need more than rule_work_max or selection_bytes_max for this request. Then nothing
    /// was decided or counted, unless the rules were reloaded while it was under way.
    bool commit(std::span<const offered_series> offered, time_point now, std::span<verdict> verdicts,
                lookup_result& open, const request_origin& origin = {}, const fleet_decision* by_fleet = nullptr);

    /// lookup() and commit() in one.
    bool decide(std::span<const offered_series> offered, time_point now, std::span<verdict> verdicts,
                lookup_result& open, const request_origin& origin = {});

    /// Takes new rules. Counts and admitted sets stay, see budget_table::reconfigure. A limit lowered below its count
    /// refuses only new series. A new false-positive rate applies from the next window on.
    void reconfigure(const limit_rules& rules) { take_rules(*state_, std::make_shared<const compiled_rules>(rules)); }

    /// Prepares memory ahead of requests, see maintain_sets. Call it every few tens of milliseconds.
    void maintain(time_point now) { maintain_sets(*state_, now); }

    /// The sets in force: what the windows have, without a lock. Read them for a moment only, see published.
    [[nodiscard]] published<window_sets>::reader sets() const noexcept { return state_->sets.read(); }
    /// The same at `now`: the windows are advanced first if needed.
    [[nodiscard]] published<window_sets>::reader sets_at(time_point now) const { return sets_in_force(*state_, now); }

    /// A limit's name, or a name of own_limit_names. Valid as long as the limiter.
    [[nodiscard]] const std::string& limit_name(limit_number number) const { return state_->names.name_of(number); }

    /// Changes whenever a snapshot would differ.
    [[nodiscard]] std::uint64_t revision() const noexcept { return state_->revision.load(std::memory_order_relaxed); }

    /// The rules in force until the next reconfigure().
    [[nodiscard]] std::shared_ptr<const compiled_rules> rules() const { return sets()->rules; }

    /// Whether this gate knows the series in the running hour, even if it does not know its budgets (fleet).
    [[nodiscard]] bool hour_has(std::uint64_t key) const noexcept { return sets()->hour_has(key); }

    /// Whether the series was admitted in the hour before, here or by another gate that was heard of.
    [[nodiscard]] bool was_admitted_before(std::uint64_t fingerprint) const noexcept {
        return sets()->was_admitted_before(fingerprint);
    }

    /// Whether this gate remembers refusing a series, a histogram's family or an ignored value.
    [[nodiscard]] bool has_refused(std::uint64_t key) const noexcept { return state_->refused.lookup(key).has_value(); }

    /// For the other parts of the room: figures.hpp, explain.hpp, learning.hpp and so on.
    [[nodiscard]] limiter_state& state() const noexcept { return *state_; }

  private:
    void end_exemptions(std::span<const offered_series> offered, lookup_result& open, std::string_view tenant) const;
    void lookup_refused(std::span<const offered_series> offered, std::span<verdict> verdicts,
                        lookup_result& open) const;
    void end_activity(std::span<const offered_series> offered, lookup_result& open) const;
    void reopen(std::span<const verdict> verdicts, lookup_result& open) const;
    void resolve_stale(std::span<const offered_series> offered, std::span<verdict> verdicts, lookup_result& open,
                       const request_origin& origin, const fleet_decision* by_fleet) const;

    std::unique_ptr<limiter_state> state_;
};

// --- The state as bytes.

/// Writes all that a restart must keep: sets, budgets, sketches, reservations. Requests continue meanwhile. The result
/// shows one moment, the end of copying the filters.
/// @return false if the sink failed, or a window ended meanwhile: try again. Threads: one at a time.
bool save_snapshot(series_limiter& limiter, state_sink& sink);

/// Loads a snapshot into an unused limiter, then follows the clock. An hour that has ended since becomes the previous
/// one; older state is dropped.
/// @return false if the snapshot is damaged or inconsistent; then nothing has changed.
bool restore_snapshot(series_limiter& limiter, state_source& source, time_point now);

}  // namespace seriesgate
