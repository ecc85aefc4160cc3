/// The limiter's state at one moment: what the commit lock guards, and the window sets that readers use without it.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/synchronization.hpp"
#include "filter/admitted_set.hpp"
#include "filter/distinct_sketch.hpp"
#include "filter/series_table.hpp"
#include "limit/budget_table.hpp"
#include "limit/rule_selections.hpp"
#include "limit/rules.hpp"
#include "limit/verdict.hpp"
#include "limit/window.hpp"
#include "series/fingerprint.hpp"

namespace seriesgate {

// --- The set of one day.

/// An admitted_set whose bit positions differ from the hour set's. With equal positions, a false positive of the hour's
/// set would mostly be one of the day's too. Checking both would prove nothing (see window_sets::standing_of).
/// Threads: as admitted_set.
class day_set {
    std::unique_ptr<admitted_set> set_;

  public:
    static std::uint64_t elsewhere(std::uint64_t fingerprint) noexcept {
        return avalanche(fingerprint ^ 0xd6e8feb86659fd93u);
    }

    explicit day_set(std::unique_ptr<admitted_set> set) noexcept : set_(std::move(set)) {}

    [[nodiscard]] bool contains(std::uint64_t fingerprint) const noexcept {
        return set_->contains(elsewhere(fingerprint));
    }
    void prefetch(std::uint64_t fingerprint) const noexcept { set_->prefetch(elsewhere(fingerprint)); }
    void insert(std::uint64_t fingerprint) noexcept { set_->insert(elsewhere(fingerprint)); }

    /// The set itself, for size, memory and rate.
    [[nodiscard]] admitted_set& filter() noexcept { return *set_; }
    [[nodiscard]] const admitted_set& filter() const noexcept { return *set_; }
};

// --- State under the commit lock.

/// Counts of one window over all budgets.
struct window_tally {
    window_sketch refused_series;
    /// Series admitted over a maximum: they complete a histogram, or are incumbents.
    std::uint64_t over_limit = 0;
    distinct_sketch cut_series;  ///< refused although their histogram had begun; not saved in snapshots

    void clear() noexcept {
        refused_series.clear();
        over_limit = 0;
        cut_series.clear();
    }
};

/// A key that enters the sets: a series, or something that stands for one.
struct admitted_key {
    std::uint64_t key;  ///< a fingerprint, or a key of admission.cpp
    in_windows into;
    bool is_untold = false;              ///< fleet: the shared store has yet to be told of it
    combination_number combination = 0;  ///< of a series, in a table
};
static_assert(sizeof(admitted_key) == 16);

/// Keys admitted while a snapshot copies the filters: the copy may lack them.
class late_keys {
  public:
    /// 64 MiB; with more keys, or without memory, the snapshot is given up.
    static constexpr std::size_t count_max = std::size_t{1} << 22;

    /// Starts recording. @return leftovers of a failed save, to be destroyed without the lock.
    [[nodiscard]] std::vector<admitted_key> begin() noexcept;
    void add(const admitted_key& key) noexcept {
        if (writing_ && key.into.any()) write(key);
    }
    struct list {
        std::vector<admitted_key> entries;
        bool complete = false;  ///< false: there were more than count_max
    };
    /// Stops recording. @return up to 64 MiB, to be destroyed without the lock.
    [[nodiscard]] list end() noexcept;

  private:
    bool writing_ = false;
    std::vector<admitted_key> entries_;

    void write(const admitted_key& key) noexcept;
};

/// Fleet: series in the table that the shared store has yet to be told of, so that nobody has to search for them. The
/// marks in the table are what counts: this may name too many, and says when it has too few. Never allocates.
class untold_notes {
    std::vector<std::uint64_t> noted_;
    bool has_missed_ = false;

  public:
    static constexpr std::size_t count_max = std::size_t{1} << 16;

    void add(std::uint64_t fingerprint) noexcept {
        if (noted_.size() < noted_.capacity())
            noted_.push_back(fingerprint);
        else
            has_missed_ = true;
    }
    void miss() noexcept { has_missed_ = true; }
    /// @param room empty; its capacity is that of the next notes.
    /// @return whether the table has to be searched for others.
    [[nodiscard]] bool exchange(std::vector<std::uint64_t>& room) noexcept {
        noted_.swap(room);
        return std::exchange(has_missed_, false);
    }
};

/// State of all decisions about new series; a reference to it proves that the caller holds the commit lock (see
/// guarded).
struct commit_state {
    budget_table budgets;
    std::vector<limit_number> limit_numbers{};  ///< of the limits in budgets.rules(), in their order
    window_tally hourly;
    window_tally daily;
    window_tally active;  ///< of the hour; without cut_series
    /// The table of all windows. Null: each window has a filter. With a table, filters come only from a loaded file,
    /// are only read, and go when their windows end.
    std::shared_ptr<series_table> table{};
    minute_number minute = 0;       ///< of the commit
    minute_number hour_begins = 0;  ///< of the running hour
    bool knows_hour_before = false;
    /// The start, or the last hour that did not follow the one before, as after a leap of the clock. No series expires
    /// for an active_window after it: senders may have been unable to reach the gate.
    minute_number watched_since = 0;
    minute_number idle_before = 0;  ///< series last seen before it are not active
    /// Budgets may have room for active series that they refused lately. Those are asked again, see maintain_sets.
    bool has_freed = false;
    bool has_refused_active = false;
    time_point refusals_forgotten{};
    minute_number minute_swept = 0;
    /// The sets in force, for writing; window_sets has the same for reading. The day's set contains the hour's.
    std::shared_ptr<admitted_set> hour;
    std::shared_ptr<day_set> day;
    /// Empty sets, made ahead for the next windows.
    std::unique_ptr<admitted_set> next_hour{};
    std::unique_ptr<admitted_set> next_day{};
    late_keys late{};
    untold_notes untold{};
    /// After the shared store has lost data: until then the gate also tells it of series that it has only heard of.
    minute_number tells_all_until = 0;

    explicit commit_state(budget_table&& first) : budgets(std::move(first)) {}

    [[nodiscard]] window_tally& tally_of(refusing_window window) noexcept {
        return window == refusing_window::hourly ? hourly : window == refusing_window::daily ? daily : active;
    }

    /// The limit whose budget is in this place, see budget_table::find.
    [[nodiscard]] limit_number limit_at(std::size_t place, const rule_selections::one& selection) const;
    /// Whether the keys fit into the sets. If not, call make_room first.
    [[nodiscard]] bool have_room(std::span<const admitted_key> keys) const noexcept;
    /// Enters a key. A series, or what stands for one, enters the hour, with or without the day; any other key enters
    /// the day alone. Precondition: have_room(), and the sets named do not contain the key, or only its combination
    /// changes.
    void remember(const admitted_key& key);
    /// Whether a series with this mark in the table was in the hour before.
    [[nodiscard]] bool was_before(const series_mark& mark) const noexcept {
        return (knows_hour_before || mark.seen >= hour_begins) && mark.was_in_hour_before(hour_begins);
    }
    /// Makes the series known in the hour, or changes its mark. Precondition: the table has room, and the series has
    /// left its combination.
    /// @param is_untold whether the shared store has yet to be told.
    void enter_in_hour(std::uint64_t fingerprint, combination_number combination, bool is_untold) noexcept;
    /// The series of a stale marker is not active any more.
    void deactivate(std::uint64_t fingerprint) noexcept;
    /// Since when the table has to know series.
    [[nodiscard]] minute_number remembers_since(const window_span& day) const noexcept {
        const minute_number windows = std::min(minute_of(day.start), hour_begins - 60);
        return std::min(windows, idle_before);
    }
};

/// Brings all budgets up to date after a change, piece by piece, giving the lock back after each.
void catch_up(guarded<commit_state>& commit);

/// Budgets per piece: each takes up to a microsecond.
inline constexpr std::size_t budgets_updated_per_piece = 64;

/// The clock may be set back by this much without ending the running window.
inline constexpr std::chrono::seconds step_back_max = std::chrono::hours{1};
/// The same in a fleet: the store opens an hour up to this long before it begins, never earlier.
inline constexpr std::chrono::seconds step_back_in_fleet_max{5};

/// How long a clock that leapt by more than an hour is not believed. If it returns in that time, nothing has happened.
inline constexpr auto clock_doubt = std::chrono::minutes{5};

/// The sets that readers use without the lock. Replaced as a whole; only the filters' bits change, through
/// commit_state.
struct window_sets {
    window_span hour_span;
    window_span day_span;
    /// See commit_state::table.
    std::shared_ptr<const series_table> table;
    bool knows_hour_before = false;  ///< the table has its series
    bool went_back = false;          ///< the clock, in this day: series stand in the table as keys of the day, too
    std::shared_ptr<const admitted_set> hour;
    std::shared_ptr<const day_set> day;
    /// Filters of the hour before; null if this gate did not observe it. previous_day equals `day` except in a day's
    /// first hour.
    std::shared_ptr<const admitted_set> previous_hour;
    std::shared_ptr<const day_set> previous_day;
    /// Rules in force, for evaluating selectors without the lock.
    std::shared_ptr<const compiled_rules> rules;
    /// End of the grace: until then incumbents have room reserved. Not after hour_span.start: no grace.
    std::chrono::sys_seconds grace_end;
    /// Fleet: until then the store keeps room for incumbents, including those that this gate never saw. The refused
    /// cache is cleared then.
    std::optional<std::chrono::sys_seconds> lapse{};
    std::chrono::seconds step_back = step_back_max;  ///< tolerated
    /// Fleet: until then the store may have lost series that this gate has only heard of.
    minute_number doubts_until = 0;
    /// Where the clock has leapt, while the leap is not believed.
    std::optional<time_point> leap{};
    minute_number minute_before_leap = 0;

    [[nodiscard]] bool in_hour(time_point now) const noexcept;
    /// Whether `now` is neither in this hour nor in the next.
    [[nodiscard]] bool is_leap(time_point now) const noexcept;
    /// Whether these sets are valid at `now`; if not, advance the windows first.
    [[nodiscard]] bool cover(time_point now) const noexcept;
    [[nodiscard]] bool in_grace() const noexcept { return grace_end > hour_span.start; }
    /// Takes the rules' grace for the running one. What is over by that, even a grace of 0, ends at the next advance.
    void take_grace(const compiled_rules& of) noexcept;
    /// The minute that a series which is seen at `now` gets: one of the running hour, and during a leap the last
    /// before.
    [[nodiscard]] minute_number minute_at(time_point now) const noexcept;

    // What the windows have. A stale marker's series is not noted as seen.
    [[nodiscard]] bool hour_has(std::uint64_t key) const noexcept;
    [[nodiscard]] bool day_has(std::uint64_t fingerprint) const noexcept;
    /// Of a key that was remembered for the day alone.
    [[nodiscard]] bool day_has_key(std::uint64_t key) const noexcept;
    [[nodiscard]] bool hour_before_has(std::uint64_t key) const noexcept;
    [[nodiscard]] bool is_active(std::uint64_t fingerprint) const noexcept {
        return table && table->read().mark_of(fingerprint).combination != 0;
    }
    /// Whether the series is active and its budgets are those of the rules in force. Filters do not tell: true.
    [[nodiscard]] bool counts_as_active(std::uint64_t fingerprint) const noexcept;
    [[nodiscard]] bool table_has_before(std::uint64_t key) const noexcept;
    /// Of all windows that decide about a new series.
    void prefetch(std::uint64_t fingerprint) const noexcept;
    /// Whether this gate observed the hour before, or has been told of it.
    [[nodiscard]] bool has_hour_before() const noexcept {
        return previous_hour != nullptr || (table && knows_hour_before);
    }
    /// Whether the series is an incumbent with reserved room. @param in_day whether the day's set has the series.
    [[nodiscard]] standing standing_of(std::uint64_t fingerprint, bool in_day) const noexcept;
    /// Fleet: whether nobody may know the series any more but this gate, which has only heard of it.
    [[nodiscard]] bool is_doubtful(std::uint64_t fingerprint) const noexcept {
        return minute_of(hour_span.start) < doubts_until && table->read().mark_of(fingerprint).combination == 0;
    }
    /// Whether the series was admitted in the hour before, even if the grace is over.
    [[nodiscard]] bool was_admitted_before(std::uint64_t fingerprint) const noexcept;
    /// Whether the series is in the set of the hour, the day or the hour before.
    [[nodiscard]] bool knows(std::uint64_t fingerprint) const noexcept;

    /// Whether all parts are present and consistent; for asserts and for loaded files.
    [[nodiscard]] bool is_whole() const noexcept;
};

/// Replaces the sets in force. @param held the caller holds the commit lock, and the sets for writing are the same.
void publish(published<window_sets>& current, const commit_state& held, std::unique_ptr<const window_sets> next);

/// Series that the first segment of a set holds.
/// @param series_count expected series.
/// @param capacity_max most series possible; 0: no bound.
std::uint64_t first_capacity(std::uint64_t series_count, std::uint64_t capacity_max);

/// Makes an empty set. Allocates and zeroes memory, so call it without the lock.
std::unique_ptr<admitted_set> make_set(std::uint64_t series_count, std::uint64_t capacity_max,
                                       double false_positive_rate);

}  // namespace seriesgate
