/// A log line now and then about something that may happen very often.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>

#include "system/clock.hpp"

namespace seriesgate {

/// Adds events up and tells, at most once in an interval, that it is time to say so.
/// Threads: any.
class sparse_log {
  public:
    using clock = monotonic_clock;

  private:
    const clock::duration interval_;
    std::atomic<clock::rep> next_line_{0};
    std::atomic<std::uint64_t> events_{0};

  public:
    static constexpr auto usual_interval = std::chrono::seconds{10};

    sparse_log() noexcept : sparse_log(usual_interval) {}
    explicit sparse_log(clock::duration interval) noexcept : interval_(interval) {}

    /// @return the events since the last line, if a line is due now: the caller then writes it.
    std::optional<std::uint64_t> count(std::uint64_t events, clock::time_point now = clock::now()) noexcept {
        events_.fetch_add(events, std::memory_order_relaxed);
        auto due = next_line_.load(std::memory_order_relaxed);
        const auto at = now.time_since_epoch().count();
        if (at < due || !next_line_.compare_exchange_strong(due, at + interval_.count())) return {};
        return events_.exchange(0, std::memory_order_relaxed);
    }

    /// What nobody has been told of, when a line has been due for a whole interval: for who looks every now and then,
    /// so that the last events of many are not kept for ever. Events that go on have a line of their own by then, which
    /// says more. @return as count(), and nothing if there is nothing to tell.
    std::optional<std::uint64_t> rest(clock::time_point now = clock::now()) noexcept {
        const auto due = next_line_.load(std::memory_order_relaxed);
        if (events_.load(std::memory_order_relaxed) == 0) return {};
        if (now.time_since_epoch().count() < due + interval_.count()) return {};
        return count(0, now);
    }
};

}  // namespace seriesgate
