/// The circuit breaker of a backend, shared by all workers: keeps requests from it while it fails.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>

#include "base/clock.hpp"
#include "core/synchronization.hpp"

namespace seriesgate {

enum class backend_state : std::uint8_t {
    half_open,   ///< accepts connections again: one trial request shows whether it answers
    healthy,     ///< answers its requests
    overloaded,  ///< answers every request with 503: it is shutting down, or has too much to do
    ejected,     ///< gives no answers
};

/// Keeps requests from a failing backend. A backend that fails is ejected for a second. Then a probe shows whether it
/// accepts connections, and one trial request whether it answers. Each failed probe or trial doubles the pause, up to
/// half a minute. After a good trial the backend's share grows for ten seconds, because a store that has just started
/// must fill its caches. Threads: any. An answer of a healthy backend costs two reads of atomics.
class circuit_breaker {
  public:
    using clock = monotonic_clock;

    static constexpr std::chrono::seconds pause_min{1};
    static constexpr std::chrono::seconds pause_max{30};
    static constexpr std::chrono::seconds slow_start{10};
    /// Fewer 503 answers in a row are no sign of overload: some stores spread their load with single ones.
    static constexpr unsigned overloaded_max = 5;

  private:
    struct times {
        clock::time_point ejected_since{};
        clock::time_point changed_at{};  // earlier requests say nothing about the state
        clock::time_point busy_until{};  // a probe or trial is running, until then at most
        std::chrono::seconds pause = pause_min;
    };

    std::atomic<backend_state> state_{backend_state::healthy};  // written under the lock of times_, like the next two
    std::atomic<clock::rep> due_{0};
    std::atomic<clock::rep> healthy_since_{clock::time_point::min().time_since_epoch().count()};
    std::atomic<unsigned> overloaded_{0};  // 503 answers in a row
    guarded<times> times_;

  public:
    [[nodiscard]] backend_state state() const noexcept { return state_.load(std::memory_order_relaxed); }
    /// Whether it answers requests, even with 503.
    [[nodiscard]] bool is_up() const noexcept {
        const backend_state is = state();
        return is == backend_state::healthy || is == backend_state::overloaded;
    }

    /// Its part of a healthy backend's requests, 0 to 1.
    [[nodiscard]] double share(clock::time_point now) const noexcept;

    /// When the next try is due, unless it is healthy.
    [[nodiscard]] clock::time_point due() const noexcept;

    /// Whether the caller must probe now whether the backend accepts connections. It then calls failed() or accepts().
    /// No other caller probes meanwhile.
    /// @param until when the probe counts as abandoned and another caller may probe.
    bool take_probe(clock::time_point now, clock::time_point until);
    void accepts(clock::time_point now);

    [[nodiscard]] bool has_trial(clock::time_point now);
    /// Makes the caller's request the trial request, if there is none yet. @return whether it is
    bool take_trial(clock::time_point now, clock::time_point until);

    /// Reports a request or probe without an answer.
    /// @param began when it was sent. @return whether this has ejected the backend.
    bool failed(clock::time_point began, clock::time_point now);

    /// Reports an answer. @return how long the backend was ejected or overloaded, if this ends it.
    std::optional<std::chrono::milliseconds> answered(unsigned status, clock::time_point began, clock::time_point now);

  private:
    void leave_out(times& held, backend_state as, clock::time_point now);
    bool is_overloaded(clock::time_point began, clock::time_point now);
    [[nodiscard]] bool is_for_trial(clock::time_point now) const noexcept;
};

}  // namespace seriesgate
