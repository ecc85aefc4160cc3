/// Up to when a gate knows what all gates have taken.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>

namespace seriesgate {

/// Threads: note() and lose() one, fresh_hour() any.
class feed_progress {
  public:
    using steady_point = std::chrono::steady_clock::time_point;

    /// What another gate takes later than so long ago may be unknown here.
    static constexpr std::chrono::seconds fresh{1};

  private:
    static constexpr std::int64_t none = -1;

    std::atomic<std::int64_t> hour_{none};
    std::atomic<steady_point::rep> read_at_{0};  // of that hour, or a later one

  public:
    /// All that was taken in that hour (since the epoch) until then is known.
    void note(std::int64_t hour, steady_point until) noexcept {
        if (hour != hour_.load(std::memory_order_relaxed)) lose();
        read_at_.store(until.time_since_epoch().count(), std::memory_order_release);
        hour_.store(hour, std::memory_order_release);
    }
    /// Something may be missing.
    void lose() noexcept { hour_.store(none, std::memory_order_release); }

    /// @return the hour of which all is known but what was taken in the last second; nothing if there is none.
    [[nodiscard]] std::optional<std::int64_t> fresh_hour(steady_point now) const noexcept {
        const std::int64_t hour = hour_.load(std::memory_order_acquire);
        const steady_point read_at{steady_point::duration{read_at_.load(std::memory_order_acquire)}};
        if (hour == none || now - read_at >= fresh) return std::nullopt;
        return hour;
    }
};

}  // namespace seriesgate
