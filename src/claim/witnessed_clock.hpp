/// The time by which the gates of a fleet count.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>

#include "limit/window.hpp"

namespace seriesgate {

/// The day that an hour is in, both counted since the epoch.
constexpr std::int64_t day_of_hour(std::int64_t hour) noexcept {
    return hour >= 0 ? hour / 24 : (hour - 23) / 24;
}

/// The shared store's clock, carried on by a steady one of this process, so it goes on while the store is away. A store
/// whose clock leaps is not believed. Until the store has been heard, the time is the gate's own.
/// Threads: any.
class witnessed_clock {
  public:
    using steady_point = std::chrono::steady_clock::time_point;

    static constexpr std::chrono::minutes agreed{2};
    [[nodiscard]] static constexpr bool agree(time_point one, time_point other) noexcept {
        return one - other <= agreed && other - one <= agreed;
    }

  private:
    std::atomic<bool> has_heard_{false};
    std::atomic<std::int64_t> ahead_{0};  // nanoseconds, of this clock before the steady one
    std::atomic<std::int64_t> floor_{0};  // since the epoch: small steps back do not show
    std::mutex hearing_;
    // Nanoseconds, of the store's clock before the steady one, believed or not; 0: unheard.
    std::atomic<std::int64_t> of_store_{0};

  public:
    /// @param own what the gate's own clock says.
    [[nodiscard]] time_point now(steady_point steady, time_point own) const noexcept {
        if (!has_heard()) return own;
        const std::int64_t carried_on = count(steady) + ahead_.load(std::memory_order_relaxed);
        return time_point{std::chrono::nanoseconds{std::max(carried_on, floor_.load(std::memory_order_relaxed))}};
    }

    /// Notes for offset() what the store's clock has said, before anybody decides whether to believe it.
    void note(time_point store, steady_point steady) noexcept {
        of_store_.store(store.time_since_epoch().count() - count(steady), std::memory_order_relaxed);
    }

    /// @param store what the store's clock has said in an answer, and the hour that is open there; -1: none.
    /// @param steady when that came.
    /// @return false if it agrees neither with this clock nor with the gate's own: then nothing has changed.
    bool correct(time_point store, std::int64_t open_hour, steady_point steady, time_point own) {
        const std::scoped_lock alone{hearing_};
        note(store, steady);
        const time_point before = now(steady, own);
        if (has_heard() && !agree(store, before) && !agree(store, own)) return false;
        // Another gate may have opened the hour a little early.
        const time_point opened{std::chrono::hours{open_hour}};
        const time_point heard = store < opened && agree(store, opened) ? opened : store;
        const bool steps_back = has_heard() && heard < before && agree(heard, before);
        floor_.store((steps_back ? before : heard).time_since_epoch().count(), std::memory_order_relaxed);
        ahead_.store(heard.time_since_epoch().count() - count(steady), std::memory_order_relaxed);
        has_heard_.store(true, std::memory_order_release);
        return true;
    }

    [[nodiscard]] bool has_heard() const noexcept { return has_heard_.load(std::memory_order_acquire); }

    /// How far the store's clock is before the gate's own, believed or not; 0 until it has been heard.
    [[nodiscard]] std::chrono::nanoseconds offset(steady_point steady, time_point own) const noexcept {
        const std::int64_t of_store = of_store_.load(std::memory_order_relaxed);
        if (of_store == 0) return std::chrono::nanoseconds{0};
        return std::chrono::nanoseconds{count(steady) + of_store - own.time_since_epoch().count()};
    }

  private:
    [[nodiscard]] static std::int64_t count(steady_point at) noexcept {
        return std::chrono::duration_cast<std::chrono::nanoseconds>(at.time_since_epoch()).count();
    }
};

}  // namespace seriesgate
