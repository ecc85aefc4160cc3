/// Whether a backend of a store may be chosen, as all workers see it.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>

#include "base/clock.hpp"
#include "core/synchronization.hpp"

namespace seriesgate {

/// The state of a backend, the best first.
enum class backend_state : std::uint8_t {
    half_open,   ///< it accepts connections again: one trial request shows whether it answers
    healthy,     ///< it answers its requests
    overloaded,  ///< it answers every request with 503: it is shutting down, or has too much to do
    ejected,     ///< it gives no answers
};

/// Keeps requests from a backend that fails. A backend that fails is ejected for a second. Then a probe shows whether
/// it accepts connections, and one trial request whether it answers. Each probe or trial that fails doubles the pause,
/// up to half a minute. After a good trial the backend's share grows for ten seconds, because a store that has just
/// started has to fill its caches. Threads: any. An answer of a healthy backend costs two reads of atomics.
class circuit_breaker {
  public:
    using clock = monotonic_clock;

    static constexpr std::chrono::seconds pause_min{1};
    static constexpr std::chrono::seconds pause_max{30};
    static constexpr std::chrono::seconds slow_start{10};
    /// 503 answers in a row that are no sign of overload: a store spreads its load by a 503 now and then.
    static constexpr unsigned overloaded_max = 5;

  private:
    struct times {
        clock::time_point ejected_since{};
        clock::time_point changed_at{};  // a request that began earlier says nothing about the state
        clock::time_point busy_until{};  // a probe or a trial is under way, until then at most
        std::chrono::seconds pause = pause_min;
    };

    std::atomic<backend_state> state_{backend_state::healthy};  // changed with `times_` locked, as the next two
    std::atomic<clock::rep> due_{0};
    std::atomic<clock::rep> healthy_since_{clock::time_point::min().time_since_epoch().count()};
    std::atomic<unsigned> overloaded_{0};  // 503 in a row
    guarded<times> times_;

  public:
    [[nodiscard]] backend_state state() const noexcept { return state_.load(std::memory_order_relaxed); }
    /// Whether requests are answered, by a 503 too.
    [[nodiscard]] bool is_up() const noexcept {
        const backend_state is = state();
        return is == backend_state::healthy || is == backend_state::overloaded;
    }

    /// The share of a healthy backend's requests that this one gets, 0 to 1.
    [[nodiscard]] double share(clock::time_point now) const noexcept;

    /// When it is tried again, if it is not healthy.
    [[nodiscard]] clock::time_point due() const noexcept;

    /// Whether the caller has to probe now whether the backend accepts connections. It then calls failed() or
    /// accepts(). Nobody else probes meanwhile.
    /// @param until when the probe counts as abandoned and another caller may probe.
    bool take_probe(clock::time_point now, clock::time_point until);
    void accepts(clock::time_point now);

    /// Whether a request now would be the trial request.
    [[nodiscard]] bool has_trial(clock::time_point now);
    /// Makes the caller's request the trial request, if there is none yet. @return whether it is
    bool take_trial(clock::time_point now, clock::time_point until);

    /// A request or a probe got no answer.
    /// @param began when it was sent
    /// @return whether this has ejected the backend.
    bool failed(clock::time_point began, clock::time_point now);

    /// A request got an answer.
    /// @return for how long the backend was ejected or overloaded, if this ends it.
    std::optional<std::chrono::milliseconds> answered(unsigned status, clock::time_point began, clock::time_point now);

  private:
    void leave_out(times& held, backend_state as, clock::time_point now);
    bool is_overloaded(clock::time_point began, clock::time_point now);
    [[nodiscard]] bool is_for_trial(clock::time_point now) const noexcept;
};

}  // namespace seriesgate
