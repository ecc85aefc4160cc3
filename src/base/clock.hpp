/// The clocks of the process. All code outside the core uses these and no others.
#pragma once

#include <atomic>
#include <chrono>
#include <ctime>

namespace seriesgate {

/// A test installs it to control the time. Threads: any.
class virtual_clock {
    static inline std::atomic<const virtual_clock*> installed_{nullptr};

  public:
    virtual ~virtual_clock() = default;
    [[nodiscard]] virtual std::chrono::steady_clock::time_point monotonic() const noexcept = 0;
    [[nodiscard]] virtual std::chrono::system_clock::time_point time_of_day() const noexcept = 0;
    /// How long an idle thread sleeps until a moment, see net/async.hpp. The earliest moment that a test is asked about
    /// is where it must move the time to.
    [[nodiscard]] virtual std::chrono::steady_clock::duration wait_for(
        std::chrono::steady_clock::duration until) const noexcept = 0;

    /// Null outside of tests.
    [[nodiscard]] static const virtual_clock* installed() noexcept {
        return installed_.load(std::memory_order_relaxed);
    }
    /// For all threads. The clock must outlive the call with null.
    static void install(const virtual_clock* one) noexcept { installed_.store(one, std::memory_order_relaxed); }
};

/// For durations and time limits, with the types of the clock that it replaces.
struct monotonic_clock : std::chrono::steady_clock {
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

/// Processor time of this thread, independent of the machine's load. It stands still while a test controls the time, so
/// that histories do not depend on the speed of their steps.
struct thread_cpu_clock {
    [[nodiscard]] static std::chrono::nanoseconds now() noexcept {
        if (virtual_clock::installed() != nullptr) return {};
        std::timespec used{};
        ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
        return std::chrono::seconds{used.tv_sec} + std::chrono::nanoseconds{used.tv_nsec};
    }
};

}  // namespace seriesgate
