/// One counted limit in one window.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <limits>

#include "filter/distinct_sketch.hpp"
#include "limit/rules.hpp"
#include "limit/window.hpp"

namespace seriesgate {

/// Counts the series admitted in a window against a maximum. Budgets remember no series, the admitted set does:
/// so a budget a tenant or label group costs a few counters, not a filter.
///
/// Incumbents: while a reservation stands, newcomers only get what the series of the previous hour that have not come
/// back yet leave: current + reserved < max. Where it is not known how many those are, they get nothing.
///
/// Whole histograms: what completes one needs no room, but all that is admitted stays below max + margin. In the next
/// hour all of it returns, so incumbents find room up to there. What that leaves is for completions: the margin is not
/// had twice, by however many hours, reloads or restarts.
///
/// Threads: under the commit lock.
class budget {
    std::uint64_t max_;         // 0: count only
    std::uint64_t margin_ = 0;  // beyond it, see margin_of
    std::uint64_t current_ = 0;
    std::uint64_t over_ = 0;
    std::uint64_t beyond_ = 0;
    std::uint64_t reserved_ = 0;
    distinct_sketch refused_;

  public:
    /// A reservation of all the room there is.
    static constexpr std::uint64_t all_room = std::numeric_limits<std::uint64_t>::max();

    /// @param series_max see set_max.
    explicit budget(std::uint64_t series_max = 0) : max_(series_max) {}

    [[nodiscard]] bool limits() const noexcept { return max_ != 0; }
    [[nodiscard]] std::uint64_t max() const noexcept { return max_; }
    /// Series that are counted: more than the maximum if it was lowered, or if histograms were completed.
    [[nodiscard]] std::uint64_t current() const noexcept { return current_ + over_; }
    /// Series that were admitted although there was no room: by a budget that only observes.
    [[nodiscard]] std::uint64_t beyond() const noexcept { return beyond_; }
    /// All that were admitted: in the next hour, its incumbents.
    [[nodiscard]] std::uint64_t admitted() const noexcept { return current() + beyond_; }
    /// Distinct series that found no room in this window; an estimate when they are many.
    [[nodiscard]] std::uint64_t refused_series() const { return refused_.estimate(); }
    [[nodiscard]] bool counts_refused_exactly() const noexcept { return refused_.is_exact(); }

    /// Room that is kept for incumbents that have not come back, in series; all_room: all of it.
    [[nodiscard]] std::uint64_t reserved() const noexcept { return reserved_; }

    [[nodiscard]] bool has_room(standing of) const noexcept {
        return fits(of) || (of == standing::incumbent && margin_left() != 0);
    }

    /// Whether one more series that has no room may complete its histogram.
    [[nodiscard]] bool has_margin() const noexcept { return reserved_ < margin_left(); }

    /// So many series would find room; all_room if nothing is limited.
    [[nodiscard]] std::uint64_t room(standing of) const noexcept {
        if (!limits()) return all_room;
        const std::uint64_t left = max_ - std::min(max_, current_);
        return of == standing::incumbent ? std::max(left, margin_left()) : left - std::min(left, reserved_);
    }

    /// @param series_max series in one window; 0 counts without limiting. May be below what has been admitted: then
    ///        only newcomers are refused. If it makes room, that goes to the series beyond first: they are in.
    /// @param margin see margin_of; 0 for a budget that only observes.
    void set_max(std::uint64_t series_max, std::uint64_t margin = 0) noexcept {
        max_ = series_max;
        margin_ = margin;
        settle();
        const std::uint64_t room = limits() ? max_ - std::min(max_, current_) : beyond_;
        const std::uint64_t moved = std::min(room, beyond_);
        current_ += moved;
        beyond_ -= moved;
    }

    /// Counts one admitted series. If it does not fit, it completes a histogram or is an incumbent, within the margin;
    /// or the budget merely observes. One that completes takes no room from the incumbents that have yet to return.
    /// @return whether it was admitted over the limit.
    bool take(standing of, limit_mode mode) noexcept {
        const bool is_within = fits(of);
        const bool is_over = !is_within && mode == limit_mode::enforce;
        assert(!is_over || has_room(of) || has_margin());  // the promise of the product
        ++(is_within ? current_ : is_over ? over_ : beyond_);
        // More can return than were expected (false positives of the previous hour's filter).
        if (of == standing::incumbent && reserved_ > 0 && reserved_ != all_room) --reserved_;
        return is_over;
    }

    void refuse(std::uint64_t fingerprint) { refused_.insert(fingerprint); }

    /// A budget that several gates share: so many have been counted by all of them in this window, and room is kept for
    /// so many incumbents. Counts only grow, in whatever order they are heard.
    void hear(std::uint64_t counted, std::uint64_t awaited) noexcept {
        current_ = std::max(current_, counted);
        reserved_ = awaited;
    }

    /// The same without what room is kept for.
    void hear(std::uint64_t counted) noexcept { current_ = std::max(current_, counted); }

    /// A new window begins.
    void restart() noexcept {  // the maximum stays
        current_ = 0;
        over_ = 0;
        beyond_ = 0;
        reserved_ = 0;
        refused_.clear();
    }

    /// Keeps room for so many series of the previous hour, or all_room; 0 lets a reservation lapse.
    void reserve(std::uint64_t incumbents) noexcept {
        reserved_ = incumbents;
        settle();
    }

    /// Adds what another budget counted; the maximum stays.
    void absorb(const budget& other) {
        current_ += other.current_;
        over_ += other.over_;
        beyond_ += other.beyond_;
        reserved_ += std::min(other.reserved_, all_room - reserved_);
        refused_.merge(other.refused_);
    }

    /// Everything but the maximum, which belongs to the configuration.
    void save(state_encoder& out) const {
        for (const std::uint64_t count : {current_, over_, beyond_, reserved_}) out.number(count);
        refused_.save(out);
    }
    void load(state_decoder& in) {
        for (std::uint64_t* count : {&current_, &over_, &beyond_, &reserved_}) *count = in.number<std::uint64_t>();
        refused_.load(in);
    }

  private:
    /// Within the maximum.
    [[nodiscard]] bool fits(standing of) const noexcept {
        return !limits() || (current_ < max_ && (of == standing::incumbent || reserved_ < max_ - current_));
    }

    /// How many more series there may be at all.
    [[nodiscard]] std::uint64_t margin_left() const noexcept {
        return limits() ? max_ + margin_ - std::min(max_ + margin_, current()) : 0;
    }

    /// There may be more room than before: it goes to the series over the maximum first.
    void settle() noexcept {
        const std::uint64_t left = limits() ? max_ - std::min(max_, current_) : over_;
        const std::uint64_t room = limits() ? left - std::min(left, reserved_) : over_;
        const std::uint64_t moved = std::min(room, over_);
        current_ += moved;
        over_ -= moved;
    }
};

}  // namespace seriesgate
