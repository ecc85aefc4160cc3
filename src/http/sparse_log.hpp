/// A log line now and then about something that may happen very often.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>

namespace seriesgate {

/// Adds events up and tells, at most once in ten seconds, that it is time to say so.
/// Threads: any.
class sparse_log {
    using clock = std::chrono::steady_clock;
    std::atomic<clock::rep> next_line_{0};
    std::atomic<std::uint64_t> events_{0};

  public:
    static constexpr auto interval = std::chrono::seconds{10};

    /// @return the events since the last line, if a line is due now: the caller then writes it.
    std::optional<std::uint64_t> count(std::uint64_t events, clock::time_point now = clock::now()) noexcept {
        events_.fetch_add(events, std::memory_order_relaxed);
        auto due = next_line_.load(std::memory_order_relaxed);
        const auto at = now.time_since_epoch().count();
        if (at < due || !next_line_.compare_exchange_strong(due, at + clock::duration{interval}.count())) return {};
        return events_.exchange(0, std::memory_order_relaxed);
    }
};

}  // namespace seriesgate
