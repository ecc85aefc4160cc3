/// The clocks of the process. All of our code that is not core asks these, and no other.
#pragma once

#include <atomic>
#include <chrono>

namespace seriesgate {

/// What a test installs to own the time. Threads: any.
class virtual_clock {
    static inline std::atomic<const virtual_clock*> installed_{nullptr};

  public:
    virtual ~virtual_clock() = default;
    [[nodiscard]] virtual std::chrono::steady_clock::time_point monotonic() const noexcept = 0;
    [[nodiscard]] virtual std::chrono::system_clock::time_point time_of_day() const noexcept = 0;
    /// How long a thread that has nothing else to do waits for a moment, see net/async_timer.hpp. The earliest moment
    /// that a test is asked about is the one that it has to go to.
    [[nodiscard]] virtual std::chrono::steady_clock::duration wait_for(
        std::chrono::steady_clock::duration until) const noexcept = 0;

    /// Null where the operating system's clocks hold, as they always do outside of tests.
    [[nodiscard]] static const virtual_clock* installed() noexcept {
        return installed_.load(std::memory_order_relaxed);
    }
    /// For all threads of the process, until it is called with null. It outlives that.
    static void install(const virtual_clock* one) noexcept { installed_.store(one, std::memory_order_relaxed); }
};

/// For durations and time limits. Its time points are those of std::chrono::steady_clock.
struct monotonic_clock {
    using rep = std::chrono::steady_clock::rep;
    using period = std::chrono::steady_clock::period;
    using duration = std::chrono::steady_clock::duration;
    using time_point = std::chrono::steady_clock::time_point;
    static constexpr bool is_steady = true;

    [[nodiscard]] static time_point now() noexcept {
        if (const virtual_clock* const owned = virtual_clock::installed()) [[unlikely]]
            return owned->monotonic();
        return std::chrono::steady_clock::now();
    }
};

/// The time of day, in UTC.
struct wall_clock {
    using time_point = std::chrono::sys_time<std::chrono::nanoseconds>;

    [[nodiscard]] static time_point now() noexcept {
        if (const virtual_clock* const owned = virtual_clock::installed()) [[unlikely]]
            return owned->time_of_day();
        return std::chrono::system_clock::now();
    }
};

/// What this thread has had of a processor, which a busy machine makes no longer than an idle one. It stands still
/// where a test owns the time: a history must not depend on how long its steps take.
struct thread_cpu_clock {
    [[nodiscard]] static std::chrono::nanoseconds now() noexcept;
};

}  // namespace seriesgate
