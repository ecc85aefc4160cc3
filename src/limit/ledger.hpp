/// What the commit lock guards.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/synchronization.hpp"
#include "filter/admitted_set.hpp"
#include "filter/distinct_sketch.hpp"
#include "limit/budget_book.hpp"
#include "limit/day_set.hpp"
#include "limit/limit_names.hpp"
#include "limit/rule_selections.hpp"
#include "limit/window.hpp"

namespace seriesgate {

/// What else is counted in one window, over all budgets.
struct window_tally {
    window_sketch refused_series;
    /// Series admitted over the maximum of some budget: they complete a histogram, or are incumbents.
    std::uint64_t over_limit = 0;
    distinct_sketch cut_series;  ///< refused though their histogram had begun; no snapshot has them

    void clear() noexcept {
        refused_series.clear();
        over_limit = 0;
        cut_series.clear();
    }
};

/// What is admitted while the filters are being copied, since the copy may lack it.
class late_keys {
  public:
    struct entry {
        std::uint64_t key;  ///< a series' fingerprint, or see set_keys.hpp
        in_windows into;
    };
    /// At most: 64 MiB. Beyond, there is too much going on for a snapshot.
    static constexpr std::size_t count_max = std::size_t{1} << 22;

    /// From here on keys are written down. @return what an earlier save has left, to be destroyed without the lock.
    [[nodiscard]] std::vector<entry> begin() noexcept;
    void add(std::uint64_t key, in_windows into) {
        if (writing_ && into.any()) write(key, into);
    }
    struct list {
        std::vector<entry> entries;
        bool complete = false;  ///< false: they were too many
    };
    /// @return all keys since begin(): up to 64 MiB, to be destroyed without the lock.
    [[nodiscard]] list end() noexcept;

  private:
    bool writing_ = false;
    std::vector<entry> entries_;

    void write(std::uint64_t key, in_windows into);
};

/// Who has it holds the lock: see guarded. All that is decided about new series is written here and nowhere else.
struct ledger {
    budget_book book;
    std::vector<limit_number> limit_numbers{};  ///< of the limits in book.rules(), in their order
    window_tally hourly;
    window_tally daily;
    /// The sets in force, for writing; readers have the same ones from window_sets. A series of the hour is of the day.
    std::shared_ptr<admitted_set> hour;
    std::shared_ptr<day_set> day;
    /// Those of the hour before, see window_sets; the day's only if that was another day, and while it is asked. More
    /// is written only to what a gate of a fleet learns, see learning.hpp.
    std::shared_ptr<admitted_set> hour_before{};
    std::shared_ptr<day_set> day_before{};
    /// Empty sets, waiting for their window.
    std::unique_ptr<admitted_set> next_hour{};
    std::unique_ptr<admitted_set> next_day{};
    late_keys late{};

    ledger(budget_book&& first, std::shared_ptr<admitted_set> hour_set, std::shared_ptr<day_set> the_day_set)
        : book(std::move(first)), hour(std::move(hour_set)), day(std::move(the_day_set)) {}

    /// Whose budget is in this place, see budget_book::find.
    [[nodiscard]] limit_number limit_at(std::size_t place, const rule_selections::one& selection) const;
    /// Whether so many keys fit into the sets. If not, they want another segment first.
    [[nodiscard]] bool have_room(std::uint64_t hour_keys, std::uint64_t day_keys) const noexcept {
        return hour->has_room(hour_keys) && day->filter().has_room(day_keys);
    }
    /// Precondition: room, and the sets named do not have the key.
    void remember(std::uint64_t key, in_windows into);
};

/// Tells the budgets what has happened to all of them, if they do not know yet, in pieces.
void catch_up(guarded<ledger>& counts);

/// Budgets that are told in one piece: each takes up to a microsecond.
inline constexpr std::size_t told_per_piece = 64;

}  // namespace seriesgate
