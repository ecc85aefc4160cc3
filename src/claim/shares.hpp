/// What a gate of a fleet has admitted although the shared store did not answer.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <unordered_map>
#include <unordered_set>

#include "claim/reserve.hpp"
#include "core/synchronization.hpp"
#include "limit/rules.hpp"
#include "limit/verdict.hpp"

namespace seriesgate {

/// What the store has said about this gate's shares.
enum class share_state : std::uint8_t {
    not_now,    ///< the hour is not open, or not all of its claims leave the shares alone: to be asked again
    none_left,  ///< other gates have all of this day's
    of_hour,    ///< it has its share of budgets of this hour
    of_day,     ///< and of those of this day
};

/// A budget that a series counts in, or may count in.
struct share_charge {
    std::uint64_t id = 0;    ///< as the store files it
    series_maxima maxima{};  ///< 0: not limited in that window
};

/// This gate's shares of all budgets (reserve.hpp), what it has taken out of them, and the series that it owes: those
/// that it let pass for it, and that no count has yet.
///
/// Of each budget and window: what was claimed by all gates, and the shares of sixteen of them, are at most the
/// maximum. So a share that was taken stays taken until its window ends, whether the store has been told of its series
/// or not: told of, they are counted as well. Only what the store has granted in an hour is a share in it, and a gate
/// that does not hear the store begins none: nothing is renewed without it. Bounded; a series that is not remembered is
/// not let pass. Threads: any.
class shares {
    struct counts {
        std::uint64_t hourly = 0;
        std::uint64_t daily = 0;
    };
    struct commit_state {
        std::int64_t hour = -1;          // of what follows
        std::int64_t granted_hour = -1;  // in which there is a share of the hour
        std::int64_t granted_day = -1;
        std::unordered_map<std::uint64_t, counts> taken{};  // by budget
        std::unordered_set<std::uint64_t> owed{};
    };

    mutable guarded<commit_state, std::mutex> all_;
    std::atomic<std::size_t> owed_count_{0};
    const reserve_parts reserve_;
    const std::size_t series_max_;

  public:
    enum class entry : std::uint8_t {
        refused,  ///< there is no share, or it is used up
        added,    ///< it may pass; the store is to be told
        there,    ///< it has passed, and is owed
    };

    /// @param series_max that may be owed, and budgets that may have something taken.
    shares(reserve_parts reserve, std::size_t series_max) : reserve_(reserve), series_max_(series_max) {}

    /// The store has said so, asked in that hour (since the epoch).
    void grant(std::int64_t hour, share_state said);
    /// There is none until the next grant: the limits that they are shares of have changed.
    void withdraw();

    /// Whether a series may pass that nobody has answered about.
    /// @param charges every enforced budget with a maximum that it may count in: all of them must have room.
    /// @param hour by the store's clock, since the epoch.
    entry take(std::uint64_t fingerprint, std::span<const share_charge> charges, std::int64_t hour);

    /// Whether it has passed in that hour, and the store has not been told. Costs nothing while nothing is owed.
    [[nodiscard]] bool owes(std::uint64_t fingerprint, std::int64_t hour) const;
    /// The store has been told, or never will be.
    void settle(std::int64_t hour, std::span<const offered_series> told);

    /// Series that are owed.
    [[nodiscard]] std::size_t owed() const noexcept { return owed_count_.load(std::memory_order_relaxed); }
    /// Whether there is a share of this hour's budgets.
    [[nodiscard]] bool has_share(std::int64_t hour) const;

  private:
    static void begin_hour(commit_state& all, std::int64_t hour);
    [[nodiscard]] bool has_room(const commit_state& all, const share_charge& of) const;
};

}  // namespace seriesgate
