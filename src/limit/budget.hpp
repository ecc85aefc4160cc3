/// One counted limit in one window.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "filter/distinct_sketch.hpp"

namespace seriesgate {

/// Counts the series admitted in a window against a maximum. Budgets remember no series, the admitted set does:
/// so a budget a tenant or label group costs a counter, not a filter.
///
/// Incumbents: while a reservation stands, newcomers only get what the series of the previous hour that have not come
/// back yet leave: current + (expected - returned) < max.
///
/// Threads: under the commit lock, but for the refused samples, which the lock-free path counts too.
class budget {
    std::uint64_t max_;  // 0: count only
    std::uint64_t current_ = 0;
    std::uint64_t expected_ = 0;
    std::uint64_t returned_ = 0;
    distinct_sketch refused_;
    std::atomic<std::uint64_t> refused_samples_{0};

  public:
    /// @param series_max series in one window; 0 counts without limiting.
    explicit budget(std::uint64_t series_max) : max_(series_max) {}

    [[nodiscard]] bool limits() const noexcept { return max_ != 0; }
    [[nodiscard]] std::uint64_t max() const noexcept { return max_; }
    [[nodiscard]] std::uint64_t current() const noexcept { return current_; }

    [[nodiscard]] bool has_room(bool incumbent) const noexcept {
        if (!limits()) return true;
        return current_ + (incumbent ? 0 : reserved()) < max_;
    }

    /// Counts one admitted series. Precondition: has_room(incumbent).
    void take(bool incumbent) noexcept {
        ++current_;
        if (incumbent) ++returned_;
    }

    void refuse(std::uint64_t fingerprint) noexcept { refused_.insert(fingerprint); }
    void count_refused_samples(std::uint64_t samples) noexcept {
        refused_samples_.fetch_add(samples, std::memory_order_relaxed);
    }

    /// A new window begins, with room reserved for `incumbents` series.
    void restart(std::uint64_t incumbents) noexcept {
        current_ = 0;
        expect(incumbents);
        refused_.clear();
        refused_samples_.store(0, std::memory_order_relaxed);
    }

    /// Reserves room for so many series of the previous hour; 0 lets a reservation lapse.
    void expect(std::uint64_t incumbents) noexcept {
        expected_ = incumbents;
        returned_ = 0;
    }

    /// Distinct series refused in this window, an estimate.
    [[nodiscard]] std::uint64_t refused_series() const { return refused_.estimate(); }
    [[nodiscard]] std::uint64_t refused_samples() const noexcept {
        return refused_samples_.load(std::memory_order_relaxed);
    }

  private:
    /// More can return than were expected (false positives of the previous hour's filter), hence the min.
    [[nodiscard]] std::uint64_t reserved() const noexcept { return expected_ - std::min(expected_, returned_); }
};

}  // namespace seriesgate
