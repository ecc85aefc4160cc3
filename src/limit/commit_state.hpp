/// The sets that are in force at one moment.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "core/synchronization.hpp"
#include "filter/admitted_set.hpp"
#include "filter/distinct_sketch.hpp"
#include "limit/budget_table.hpp"
#include "limit/rule_selections.hpp"
#include "limit/rules.hpp"
#include "limit/window.hpp"
#include "series/fingerprint.hpp"

namespace seriesgate {

// --- The series admitted in one day.

/// An admitted_set that looks for a series in other places than the hour's does. With the same places a series that the
/// hour's set takes for one of its own would mostly find the same bits set in the day's, and to ask both would say no
/// more than to ask one (see window_sets::standing_of).
/// Threads: as admitted_set.
class day_set {
    std::unique_ptr<admitted_set> set_;

    static std::uint64_t elsewhere(std::uint64_t fingerprint) noexcept {
        return avalanche(fingerprint ^ 0xd6e8feb86659fd93u);
    }

  public:
    explicit day_set(std::unique_ptr<admitted_set> set) noexcept : set_(std::move(set)) {}

    [[nodiscard]] bool contains(std::uint64_t fingerprint) const noexcept {
        return set_->contains(elsewhere(fingerprint));
    }
    void prefetch(std::uint64_t fingerprint) const noexcept { set_->prefetch(elsewhere(fingerprint)); }
    void insert(std::uint64_t fingerprint) noexcept { set_->insert(elsewhere(fingerprint)); }

    /// Its size, memory and rate.
    [[nodiscard]] admitted_set& filter() noexcept { return *set_; }
    [[nodiscard]] const admitted_set& filter() const noexcept { return *set_; }
};

// --- What the commit lock guards.

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
struct commit_state {
    budget_table book;
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

    commit_state(budget_table&& first, std::shared_ptr<admitted_set> hour_set, std::shared_ptr<day_set> the_day_set)
        : book(std::move(first)), hour(std::move(hour_set)), day(std::move(the_day_set)) {}

    /// Whose budget is in this place, see budget_table::find.
    [[nodiscard]] limit_number limit_at(std::size_t place, const rule_selections::one& selection) const;
    /// Whether so many keys fit into the sets. If not, they want another segment first.
    [[nodiscard]] bool have_room(std::uint64_t hour_keys, std::uint64_t day_keys) const noexcept {
        return hour->has_room(hour_keys) && day->filter().has_room(day_keys);
    }
    /// Precondition: room, and the sets named do not have the key.
    void remember(std::uint64_t key, in_windows into);
};

/// Tells the budgets what has happened to all of them, if they do not know yet, in pieces.
void catch_up(guarded<commit_state>& counts);

/// Budgets that are told in one piece: each takes up to a microsecond.
inline constexpr std::size_t told_per_piece = 64;

struct commit_state;

/// A clock may be set back by this much without ending the running window.
inline constexpr std::chrono::seconds step_back_max = std::chrono::hours{1};
/// The same in a fleet: its store opens an hour so long before it begins, and for no gate earlier.
inline constexpr std::chrono::seconds step_back_in_fleet_max{5};

/// A clock that leaps by more than an hour is taken for wrong for so long: if it comes back, nothing has happened.
inline constexpr auto clock_doubt = std::chrono::minutes{5};

/// Immutable but for the bits that the ledger sets, and swapped whole. Who only looks gets the sets from here; who
/// writes has them from the ledger.
struct window_sets {
    window_span hour_span;
    window_span day_span;
    std::shared_ptr<const admitted_set> hour;
    std::shared_ptr<const day_set> day;
    /// Sets of the hour before, null if it was not observed. The day's is the current one unless midnight came between.
    std::shared_ptr<const admitted_set> previous_hour;
    std::shared_ptr<const day_set> previous_day;
    /// Of this moment, for evaluating selectors without the lock.
    std::shared_ptr<const compiled_rules> rules;
    /// While before this, incumbents have room reserved.
    std::chrono::sys_seconds grace_end;
    /// In a fleet, while before this: its store keeps room for incumbents, whether or not this gate has seen any of
    /// them. What was refused for their sake is forgotten then.
    std::optional<std::chrono::sys_seconds> lapse{};
    std::chrono::seconds step_back = step_back_max;  ///< that is borne
    /// Where the clock has leapt to, if that is not believed yet.
    std::optional<time_point> leap{};

    [[nodiscard]] bool in_hour(time_point now) const noexcept;
    /// Whether `now` is neither in the hour nor in the next.
    [[nodiscard]] bool is_leap(time_point now) const noexcept;
    /// Whether `now` can be decided with these sets, or something has to be rolled over first.
    [[nodiscard]] bool cover(time_point now) const noexcept;
    [[nodiscard]] bool in_grace() const noexcept { return grace_end > hour_span.start; }
    /// An incumbent has room reserved. @param in_day whether the day's set has the series.
    [[nodiscard]] standing standing_of(std::uint64_t fingerprint, bool in_day) const noexcept;
    /// Whether it was admitted in the hour before, also when no room is kept for it here any more.
    [[nodiscard]] bool was_admitted_before(std::uint64_t fingerprint) const noexcept;
    /// In the hour, the day or the hour before.
    [[nodiscard]] bool knows(std::uint64_t fingerprint) const noexcept;

    /// Whether all is there that has to be, and fits together. For asserts, and for what comes from a file.
    [[nodiscard]] bool is_whole() const noexcept;
};

/// The current window_sets. Threads: read() any; the others ask for the ledger, which only the holder of its lock has.
class sets_in_force {
    published<window_sets> current_;

  public:
    using reader = published<window_sets>::reader;

    explicit sets_in_force(std::unique_ptr<const window_sets> first) : current_(std::move(first)) {}

    [[nodiscard]] reader read() const noexcept { return current_.read(); }
    void publish(commit_state& held, std::unique_ptr<const window_sets> next);
    [[nodiscard]] auto reclaim(commit_state&) noexcept { return current_.reclaim(); }
};

/// What the first segment of a set for about so many series is sized for.
/// @param capacity_max how many can come; 0: any number.
std::uint64_t first_capacity(std::uint64_t series_count, std::uint64_t capacity_max);

/// An empty set for about so many series. Allocates and zeroes: not under the lock.
std::unique_ptr<admitted_set> make_set(std::uint64_t series_count, std::uint64_t capacity_max,
                                       double false_positive_rate);

}  // namespace seriesgate
