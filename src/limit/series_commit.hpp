/// Commits the new series of one request, in short pieces under the commit lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "limit/lookup_result.hpp"
#include "limit/verdict.hpp"

namespace seriesgate {

class admission;
struct decision;

/// Decides about all pending series. Gives the lock back after each piece, so that other requests get their turn.
///
/// For whole histograms, a second round handles sums and counts, wherever they stand in the request. A limit by metric
/// name fills up with buckets first; it must refuse the histogram before its sum begins it.
class series_commit {
  public:
    /// @param by_fleet the fleet decision, see series_limiter::commit; the rules have been selected then.
    /// All arguments outlive the object.
    series_commit(limiter_state& state, std::span<const offered_series> offered, time_point now,
                  std::span<verdict> verdicts, lookup_result& open, const request_origin& origin,
                  const fleet_decision* by_fleet);

    /// @return as series_limiter::commit.
    bool run();

  private:
    enum class piece_end : std::uint8_t { finished, not_finished, other_rules, outdated, sets_full };

    [[nodiscard]] bool is_current(const commit_state& held, const window_sets& current) const noexcept;
    void apply_outdated();
    piece_end run_piece();
    piece_end run_round(admission& one_by_one, const window_sets& current, std::size_t& budgets_seen);
    void write(std::uint32_t entry, const decision& decided, std::span<const spent_limit> observing);
    void prefetch(const window_sets& current, std::size_t place) const;
    [[nodiscard]] pending_decision fleet_decision_of(std::size_t place) const;
    [[nodiscard]] bool is_decided(std::size_t place) const noexcept;
    void drop_decided();
    [[nodiscard]] std::optional<refusal> refusal_like(const pending_decision& by_fleet) const noexcept;
    [[nodiscard]] bool keeps_histograms_whole() const noexcept { return !open_.families.empty(); }

    limiter_state& state_;
    std::span<const offered_series> offered_;
    time_point now_;
    std::span<verdict> verdicts_;
    lookup_result& open_;
    const request_origin& origin_;
    const fleet_decision* by_fleet_;
    fleet_decision left_;   ///< of an outdated decision: what passes all the same
    bool totals_ = false;   // in the second round: sums and counts
    std::size_t next_ = 0;  // index into open_.pending
};

}  // namespace seriesgate
