/// The time by which all gates of a fleet count.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>

#include "claim/witnessed_clock.hpp"
#include "limit/window.hpp"

namespace seriesgate {

/// The shared store's clock, carried on by a steady one of this process. It stops at the end of an hour until the store
/// has been heard in a later one: no window begins for a gate that cannot hear the store. Until it has been heard at
/// all, the time is the gate's own. Threads: any.
class fleet_clock {
  public:
    using steady_point = std::chrono::steady_clock::time_point;

  private:
    std::atomic<std::int64_t> ahead_{0};  // nanoseconds, of the store's clock before the steady one
    std::atomic<std::int64_t> end_{0};    // of the last hour that was heard of, since the epoch; 0: none

  public:
    /// @param own what the gate's own clock says.
    [[nodiscard]] time_point now(steady_point steady, time_point own) const noexcept {
        const std::int64_t end = end_.load(std::memory_order_acquire);
        if (end == 0) return own;
        const std::int64_t carried_on = nanoseconds_of(steady) + ahead_.load(std::memory_order_relaxed);
        return time_point{std::chrono::nanoseconds{std::min(carried_on, end - 1)}};
    }

    /// @param store what the store's clock has said in an answer.
    /// @param steady when that came: a little later, so the time is never before the store's.
    void hear(time_point store, steady_point steady) noexcept {
        ahead_.store(store.time_since_epoch().count() - nanoseconds_of(steady), std::memory_order_relaxed);
        const std::int64_t heard = time_point{hour_of(store).end}.time_since_epoch().count();
        std::int64_t end = end_.load(std::memory_order_relaxed);
        while (heard > end && !end_.compare_exchange_weak(end, heard, std::memory_order_release)) {
        }
    }

    [[nodiscard]] bool has_heard() const noexcept { return end_.load(std::memory_order_relaxed) != 0; }

    /// How far the store's clock is before the gate's own; 0 until it has been heard.
    [[nodiscard]] std::chrono::nanoseconds offset(steady_point steady, time_point own) const noexcept {
        if (!has_heard()) return std::chrono::nanoseconds{0};
        const std::int64_t ahead = ahead_.load(std::memory_order_relaxed);
        return std::chrono::nanoseconds{nanoseconds_of(steady) + ahead - own.time_since_epoch().count()};
    }

    /// How long until the hour ends that was heard of last, by the store's clock: then it is to be heard again.
    /// Negative when it has ended. Precondition: has_heard().
    [[nodiscard]] std::chrono::nanoseconds until_hour_ends(steady_point steady) const noexcept {
        return std::chrono::nanoseconds{end_.load(std::memory_order_acquire) - nanoseconds_of(steady) -
                                        ahead_.load(std::memory_order_relaxed)};
    }

  private:
    [[nodiscard]] static std::int64_t nanoseconds_of(steady_point at) noexcept {
        return std::chrono::duration_cast<std::chrono::nanoseconds>(at.time_since_epoch()).count();
    }
};

}  // namespace seriesgate
