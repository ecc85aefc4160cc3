/// Active series: how many each budget has, in which budgets each of them counts, and the room for further ones.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "core/state_stream.hpp"
#include "filter/distinct_sketch.hpp"
#include "filter/series_table.hpp"
#include "series/fingerprint.hpp"

namespace seriesgate {

/// Counts the active series of each budget. An active series stands in the table with the number of its combination:
/// the list of budgets that it counts in. Equal lists have one number, and a combination without series is freed. So
/// there are at most as many combinations as active series.
///
/// No call takes longer if there are more combinations, because others wait for the commit lock: the index grows by one
/// bucket at a time. Source: Litwin, "Linear Hashing: A New Tool for File and Table Addressing", 1980.
/// Threads: under the commit lock.
class active_series {
  public:
    /// The number of a budget; 0: none. A number is used again when no combination contains it any more.
    using budget_number = std::uint32_t;
    using budget_list = std::span<const budget_number>;

    /// @param key of this installation.
    explicit active_series(hash_key key) : key_(std::move(key)) {}

    /// Throws std::bad_alloc, as join() does; then nothing has changed.
    [[nodiscard]] budget_number open_budget();
    /// Ends one use of the number: by the budget itself, or by a combination that is freed.
    void close_budget(budget_number budget) noexcept;
    [[nodiscard]] std::uint64_t count_in(budget_number budget) const noexcept {
        return budget == 0 ? 0 : budgets_[budget - 1].series;
    }
    /// The highest count since begin_hour(). It is not saved: after a start, since then.
    [[nodiscard]] std::uint64_t peak_in(budget_number budget) const noexcept {
        return budget == 0 ? 0 : budgets_[budget - 1].peak;
    }
    void begin_hour(budget_number budget) noexcept {
        if (budget != 0) budgets_[budget - 1].peak = budgets_[budget - 1].series;
    }

    /// Counts a series in these budgets, and no longer in those of `before`. @return their combination, never 0.
    [[nodiscard]] combination_number join(budget_list budgets, combination_number before = 0);
    /// Counts one series less. 0 is no combination: nothing happens.
    void leave(combination_number combination) noexcept;

    /// Combinations in use. @return at most as many as there are active series.
    [[nodiscard]] std::uint64_t combinations() const noexcept { return used_; }
    /// Memory of combinations and index, in bytes.
    [[nodiscard]] std::size_t bytes() const noexcept;

    // --- For snapshots, which copy the table in pieces.

    /// From now on no number is used again, so those in the copy keep their meaning.
    void keep_freed() noexcept { keeps_ = true; }
    /// Ends keep_freed(), and frees up to `count` of the kept numbers. @return whether there are more.
    bool free_kept(std::size_t count) noexcept;
    /// No combination has a larger number.
    [[nodiscard]] combination_number last_number() const noexcept {
        return static_cast<combination_number>(combinations_.size());
    }
    /// The budgets of a combination in use, or freed and kept. Empty for other numbers.
    [[nodiscard]] budget_list budgets_of(combination_number combination) const noexcept;

  private:
    struct budget_entry {
        std::uint64_t series = 0;
        std::uint64_t peak = 0;
        std::uint32_t users = 0;  ///< combinations, and the budget itself
    };
    struct combination_entry {
        std::unique_ptr<budget_number[]> budgets;
        std::uint32_t size = 0;
        std::uint32_t hash = 0;
        std::uint32_t series = 0;
        combination_number next = 0;  ///< in its bucket, or in a list of free ones
    };

    [[nodiscard]] std::uint32_t hash_of(budget_list budgets) const noexcept;
    [[nodiscard]] std::size_t bucket_of(std::uint32_t hash) const noexcept;
    [[nodiscard]] combination_number find(budget_list budgets, std::uint32_t hash) const noexcept;
    combination_number make(budget_list budgets, std::uint32_t hash);
    void split_bucket();
    void unlink(combination_number combination) noexcept;
    void free(combination_number combination) noexcept;
    [[nodiscard]] combination_entry& at(combination_number combination) noexcept {
        return combinations_[combination - 1];
    }
    [[nodiscard]] const combination_entry& at(combination_number combination) const noexcept {
        return combinations_[combination - 1];
    }

    hash_key key_;
    // Deques, because they grow without moving what is there.
    std::deque<budget_entry> budgets_;
    std::vector<budget_number> free_budgets_;
    std::deque<combination_entry> combinations_;
    std::deque<combination_number> buckets_ = std::deque<combination_number>(1);
    std::uint32_t bucket_mask_ = 0;
    combination_number free_ = 0;
    combination_number kept_ = 0;  ///< freed, but not to be used again yet
    bool keeps_ = false;
    std::uint64_t used_ = 0;
    std::uint64_t lists_ = 0;  ///< budgets in the lists of all combinations
};

/// The room of one budget for active series.
///
/// A series that the hour knows needs none: when it comes back from idleness, it may bring the count above the maximum.
/// A newly active series needs room. In any activeWindow there are at most twice the maximum of them, however many
/// active series stale markers end meanwhile. Threads: under the commit lock.
class active_budget {
  public:
    /// @param maximum 0: counted, not limited. @param margin see margin_of; 0 for an observing budget.
    /// @param window limit_rules::active_window, in minutes.
    void set_max(std::uint64_t maximum, std::uint64_t margin, minute_number window) noexcept;
    [[nodiscard]] std::uint64_t max() const noexcept { return max_; }
    [[nodiscard]] bool limits() const noexcept { return max_ != 0; }

    /// Newly active series that would find room. @param active series. Precondition: limits().
    [[nodiscard]] std::uint64_t room(std::uint64_t active, minute_number now) const noexcept {
        return std::min(max_ - std::min(max_, active), newly_active_left(now));
    }
    [[nodiscard]] bool has_room(std::uint64_t active, minute_number now) const noexcept {
        return !limits() || room(active, now) != 0;
    }
    /// Whether a newly active series without room may complete its histogram.
    [[nodiscard]] bool has_margin(std::uint64_t active, minute_number now) const noexcept {
        return limits() && active < max_ + margin_ && newly_active_left(now) != 0;
    }
    void take_newly_active(minute_number now) noexcept;
    /// In the window that ends now, and up to a tenth of it more.
    [[nodiscard]] std::uint64_t newly_active(minute_number now) const noexcept;

    void refuse(std::uint64_t fingerprint) { refused_.insert(fingerprint); }
    /// Distinct series that found no room in this hour; an estimate for large numbers.
    [[nodiscard]] const distinct_sketch& refused() const noexcept { return refused_; }
    void begin_hour() noexcept { refused_.clear(); }
    void forget_newly_active() noexcept {
        newest_ = 0;
        newly_active_ = {};
    }

    /// Adds another budget's newly active series and refusals; the maximum stays.
    void absorb(const active_budget& other);
    void save(state_encoder& out) const;
    void load(state_decoder& in);

    active_series::budget_number number = 0;  ///< 0: this gate does not count active series

  private:
    /// Newly active series by tenths of the window, or by minutes if those are longer. One part more, because a window
    /// may begin within one.
    static constexpr minute_number parts_max = 10;
    using counts = std::array<std::uint64_t, parts_max + 1>;

    [[nodiscard]] std::uint64_t part_of(minute_number minute) const noexcept { return minute / part_minutes_; }
    [[nodiscard]] std::uint64_t newly_active_left(minute_number now) const noexcept {
        return 2 * max_ - std::min(2 * max_, newly_active(now));
    }

    std::uint64_t max_ = 0;
    std::uint64_t margin_ = 0;
    minute_number part_minutes_ = 1;
    minute_number parts_ = parts_max;  ///< of a window
    std::uint64_t newest_ = 0;  ///< the last part with a newly active series; its entry is newest_ % (parts_max + 1)
    counts newly_active_{};
    distinct_sketch refused_;
};

}  // namespace seriesgate
