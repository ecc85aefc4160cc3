/// What all threads of a gate know of its fleet.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "claim/claim.hpp"
#include "claim/known_counts.hpp"
#include "claim/shares.hpp"
#include "config/config.hpp"
#include "fleet/feed_progress.hpp"
#include "fleet/fleet_clock.hpp"
#include "fleet/fleet_member.hpp"
#include "fleet/fleet_metrics.hpp"
#include "fleet/heard_counts.hpp"
#include "fleet/store_keys.hpp"
#include "limit/untold.hpp"
#include "redis/redis_client.hpp"
#include "redis/redis_shared.hpp"

namespace seriesgate {

/// How long an answer of the store is waited for where no request waits: a busy store is not away.
inline constexpr std::chrono::seconds answer_patience{2};

enum class fleet_state : std::uint8_t {
    joining,     ///< the store has not been heard yet
    joined,      ///< new series are asked about
    recovering,  ///< it may have lost counts: until they are whole again, as when it is away
    away,        ///< it was heard, and cannot be reached: new series get what shared.onUnavailable says
};

/// How many buckets the open windows have, as the store said last. Threads: any.
class known_buckets {
    mutable std::mutex lock_;
    std::int64_t hour_ = 0;
    bucket_counts counts_;

  public:
    /// Of the windows that go with an hour; nothing is known of any but the last that was heard of.
    [[nodiscard]] bucket_counts of(std::int64_t hour) const {
        const std::scoped_lock held{lock_};
        return hour == hour_ ? counts_ : bucket_counts{};
    }
    void hear(const store_windows& open) {
        const std::scoped_lock held{lock_};
        if (open.hour < hour_) return;
        hour_ = open.hour;
        counts_ = open.buckets;
    }
};

/// Threads: any.
class fleet_shared {
    std::atomic<fleet_state> state_{fleet_state::joining};
    mutable std::mutex lock_;
    std::vector<fleet_member> members_;

  public:
    const shared_config& settings;
    fleet_metrics& metrics;
    redis_shared store;
    const redis_script claims;
    const redis_script tellings;
    const redis_script feeds;
    const redis_script share_askings;
    const store_keys keys;
    const std::uint64_t gate;  ///< tells this run of this gate from all others
    fleet_clock clock;
    known_buckets buckets;
    heard_counts heard;
    untold_series untold;
    feed_progress feed;
    shares own_shares;
    /// The store keeps the places of incumbents for this gate, which accepts them at once.
    std::atomic<bool> keeps_places{false};
    /// The series that the fleet has admitted have yet to be read for the first time, see download.hpp.
    std::atomic<bool> catches_up{true};

    /// What is passed outlives this. Throws as redis_shared.
    fleet_shared(const shared_config& shared, fleet_metrics& counted);

    /// The time by which requests are decided.
    [[nodiscard]] time_point now() const noexcept { return clock.now(monotonic_clock::now(), wall_clock::now()); }

    /// What an answer of the store says besides.
    void hear(const store_windows& open) {
        clock.hear(open.now, monotonic_clock::now());
        buckets.hear(open);
    }

    /// How far the store's clock is before this gate's own; 0 until it has been heard.
    [[nodiscard]] std::chrono::nanoseconds clock_offset() const noexcept {
        return clock.offset(monotonic_clock::now(), wall_clock::now());
    }

    [[nodiscard]] fleet_state state() const noexcept { return state_.load(std::memory_order_relaxed); }
    void set_state(fleet_state now) noexcept { state_.store(now, std::memory_order_relaxed); }

    /// Whether what senders send now would mostly have to be asked about, and soon not any more.
    [[nodiscard]] bool is_catching_up() const noexcept { return catches_up && state() == fleet_state::joined; }
    /// For questions::ask. Of no budget unless this gate has read, a moment ago, all that was taken in the hour.
    [[nodiscard]] known_counts counted() const;

    /// All that were heard of in the last hours, this one too.
    [[nodiscard]] std::vector<fleet_member> members() const {
        const std::scoped_lock held{lock_};
        return members_;
    }
    void set_members(std::vector<fleet_member> now) {
        const std::scoped_lock held{lock_};
        members_ = std::move(now);
    }
};

}  // namespace seriesgate
