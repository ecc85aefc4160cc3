/// Decides about every series: known, refused lately, or to be settled against all budgets.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "limit/lookup_result.hpp"
#include "limit/rules.hpp"
#include "limit/verdict.hpp"
#include "limit/window.hpp"
#include "series/fingerprint.hpp"

namespace seriesgate {

struct limiter_state;
struct untold;
class untold_series;
class windows;

/// Admits series into the current hour and day.
///
/// One admitted set per window, many budgets: membership is asked of the hour's set alone, budgets are counters that
/// are looked at only when a series is new. A series in the hour's set is in the day's set too.
///
/// Exact: what is new is decided and counted under one lock, so no budget is exceeded by a race, nothing is counted
/// twice, and a refusal consumes nothing in any budget. (A false positive of the filter lets a new series pass
/// uncounted; limit_rules::false_positive_rate bounds how many, however fast they come: a set that is full gets more
/// memory first.) limit_rules::whole_histograms makes one exception, see admission.hpp.
///
/// The lock is given in turn, and whoever has much to do under it (a long request, a save, figures, a new hour) gives
/// it back after a fraction of a millisecond's work.
///
/// Its parts, from the inside: ledger.hpp (what the lock guards), window_sets.hpp (what everyone may read), windows.hpp
/// (hours and days begin and end), admission.hpp (one series), settlement.hpp (a request's new series); figures.hpp,
/// explain.hpp and snapshot.hpp are for those who watch and keep.
///
/// Threads: maintain() one, all others any. An `undecided` and the spans belong to the caller.
class series_limiter {
  public:
    /// @param key of this installation, for the tables by tenant and group.
    /// @param scope fleet: see select() and settle(), which then decide by what they are told.
    series_limiter(const limit_rules& rules, time_point now, const hash_key& key = hash_key::known_to_all(),
                   limit_scope scope = limit_scope::gate);
    series_limiter(series_limiter&&) noexcept;
    series_limiter& operator=(series_limiter&&) noexcept;
    ~series_limiter();

    /// The first half of a decision: decides about all series that are known, and about those refused lately. No lock,
    /// no allocation (once the buffers have grown), one cache line each.
    /// @param verdicts as many as `offered`.
    /// @param open gets the rest; empty if there is none.
    void lookup(std::span<const offered_series> offered, time_point now, std::span<verdict> verdicts,
                lookup_result& open);

    /// In a fleet, between the two halves: which limits apply to what is pending, for who asks the shared store. It is
    /// asked about exempt series only where their limit, which each gate has for itself, has no room.
    /// @return as settle().
    bool select(std::span<const offered_series> offered, lookup_result& open, const request_origin& origin);

    /// In a fleet, behind select(): accepts pending series that this gate had in the hour before, if they may be told
    /// of afterwards. They are pending no longer.
    /// @param all says which may be.
    /// @param aside gets those that have to be told of; its tenant is the request's.
    void set_aside(std::span<const offered_series> offered, std::span<verdict> verdicts, lookup_result& open,
                   untold_series& all, untold& aside) const;

    /// The second half: decides about the rest, in order, against all budgets. Any time may have passed between the
    /// two; what is new by then counts in the hour of `now`.
    /// Throws std::bad_alloc if there is no memory for what is new; then some of it may have been admitted.
    /// @param said in a fleet: what the store has told about all of it. Without it, nothing is admitted that a shared
    /// limit may refuse.
    /// @return false if the request asks for more than rule_work_max or selection_bytes_max: then nothing has been
    /// decided or counted. (Unless other rules ask for more, which have come when part of it was admitted.)
    bool commit(std::span<const offered_series> offered, time_point now, std::span<verdict> verdicts,
                lookup_result& open, const request_origin& origin = {}, const told* said = nullptr);

    /// Both halves.
    bool decide(std::span<const offered_series> offered, time_point now, std::span<verdict> verdicts,
                lookup_result& open, const request_origin& origin = {});

    /// Takes other rules. Counts and admitted sets are kept, see budget_table::reconfigure; a limit lowered below its
    /// count refuses newcomers and keeps what is known. A new false-positive rate holds from the next window on.
    void reconfigure(const limit_rules& rules);

    /// Does ahead of time what a request must not wait for, see windows::maintain. Call it every few tens of
    /// milliseconds.
    void maintain(time_point now);

    /// See limiter_figures::clock_in_doubt.
    [[nodiscard]] bool clock_in_doubt() const noexcept;
    /// Of the hour that is in force.
    [[nodiscard]] std::chrono::sys_seconds hour_start() const noexcept;

    /// What is written of a limit: its name, or `global` or `tenant`, see limit_names.hpp. Valid as long as the
    /// limiter.
    [[nodiscard]] const std::string& limit_name(limit_number number) const;

    /// Changes whenever something happens that a snapshot would show.
    [[nodiscard]] std::uint64_t revision() const noexcept;

    /// In force now; others after a reconfigure().
    [[nodiscard]] std::shared_ptr<const compiled_rules> rules() const;

    /// In the hour, the day or the hour before, as far as this gate has seen.
    [[nodiscard]] bool knows(std::uint64_t fingerprint) const noexcept;

    // In a fleet, of histograms that are kept whole, by the fingerprint of their family.

    /// Whether one of its series was taken in the hour, as far as this gate knows.
    [[nodiscard]] bool has_begun(std::uint64_t family) const noexcept;
    /// Whether this gate remembers that it was refused.
    [[nodiscard]] bool has_refused(std::uint64_t family) const noexcept;
    /// Whether the store may keep room for this series.
    [[nodiscard]] bool may_be_incumbent(std::uint64_t fingerprint) const noexcept;

    /// For those who watch and keep: figures.hpp, explain.hpp, snapshot.hpp.
    [[nodiscard]] limiter_state& state() const noexcept { return *state_; }
    [[nodiscard]] windows& time() const noexcept { return *windows_; }

  private:
    void end_exemptions(std::span<const offered_series> offered, lookup_result& open, std::string_view tenant) const;
    void lookup_refused(std::span<const offered_series> offered, std::span<verdict> verdicts,
                        lookup_result& open) const;
    void reopen(std::span<const verdict> verdicts, lookup_result& open) const;
    void resolve_stale(std::span<const offered_series> offered, std::span<verdict> verdicts, lookup_result& open,
                       const request_origin& origin, const told* said) const;

    std::unique_ptr<limiter_state> state_;
    std::unique_ptr<windows> windows_;
};

}  // namespace seriesgate
