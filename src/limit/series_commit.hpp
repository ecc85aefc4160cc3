/// A request's new series on their way through the lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "limit/lookup_result.hpp"
#include "limit/verdict.hpp"
#include "limit/windows.hpp"

namespace seriesgate {

class admission;
struct decision;

/// Decides about all that is pending, in pieces: the lock is given back after each, so that others get their turn.
///
/// Where histograms are kept whole, sums and counts come after the buckets, wherever they stand: a limit by metric has
/// its buckets' budget spent first, and must refuse the histogram before its sum has begun it.
class series_commit {
  public:
    /// All of these outlive the object.
    /// @param said in a fleet, see series_limiter::settle; then the rules have been selected.
    series_commit(limiter_state& state, windows& sets, std::span<const offered_series> offered,
                  std::span<verdict> verdicts, lookup_result& open, const request_origin& origin, const told* said);

    /// @return false if the request asks for more than rule_work_max or selection_bytes_max. Nothing has been decided
    /// then; unless other rules ask for more, which have come when part of it was admitted.
    bool run();

  private:
    enum class piece_end : std::uint8_t { finished, not_finished, other_rules, told_of_others, sets_full };

    [[nodiscard]] bool is_told_of(const commit_state& held, const window_sets& current) const noexcept;
    void repeat_told();
    piece_end run_piece();
    piece_end run_round(admission& one_by_one, const window_sets& current, std::size_t& budgets_seen);
    void write(std::uint32_t entry, const decision& decided, std::span<const spent_limit> observing);
    void prefetch(const window_sets& current, std::size_t place) const;
    [[nodiscard]] bool is_decided(std::size_t place) const noexcept;
    void drop_decided();
    [[nodiscard]] std::optional<refusal> refusal_like(const told_series& said) const noexcept;
    [[nodiscard]] bool keeps_histograms_whole() const noexcept { return !open_.families.empty(); }

    limiter_state& state_;
    windows& windows_;
    std::span<const offered_series> offered_;
    std::span<verdict> verdicts_;
    lookup_result& open_;
    const request_origin& origin_;
    const told* said_;
    bool totals_ = false;   // the second round, of sums and counts
    std::size_t next_ = 0;  // index into open_.pending
};

}  // namespace seriesgate
