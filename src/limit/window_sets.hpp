/// The sets that are in force at one moment.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>

#include "core/synchronization.hpp"
#include "filter/admitted_set.hpp"
#include "limit/compiled_rules.hpp"
#include "limit/day_set.hpp"
#include "limit/window.hpp"

namespace seriesgate {

struct ledger;

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
    void publish(ledger& held, std::unique_ptr<const window_sets> next);
    [[nodiscard]] auto reclaim(ledger&) noexcept { return current_.reclaim(); }
};

/// What the first segment of a set for about so many series is sized for.
/// @param capacity_max how many can come; 0: any number.
std::uint64_t first_capacity(std::uint64_t series_count, std::uint64_t capacity_max);

/// An empty set for about so many series. Allocates and zeroes: not under the lock.
std::unique_ptr<admitted_set> make_set(std::uint64_t series_count, std::uint64_t capacity_max,
                                       double false_positive_rate);

}  // namespace seriesgate
