/// Whether a door of a store may be chosen, as all workers see it.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>

#include "core/guarded.hpp"
#include "system/clock.hpp"

namespace seriesgate {

/// What is known of a door, the best first.
enum class door_standing : std::uint8_t {
    trial,         ///< it accepts connections again: one request is to show whether it answers
    well,          ///< its requests are answered
    turning_away,  ///< it answers, but nothing but 503: it is shutting down, or has too much to do
    out,           ///< it gives no answers
};

/// A door that fails is out for a second; then it is looked whether it accepts connections, and each time that it does
/// not, or that the one request of its trial fails, the pause is twice as long, up to half a minute. After a trial that
/// has gone well its share grows for ten seconds: a store that has just started has its caches to fill.
/// Threads: any. An answer while all is well costs two looks at atomics.
class door_health {
  public:
    using clock = monotonic_clock;

    static constexpr std::chrono::seconds pause_min{1};
    static constexpr std::chrono::seconds pause_max{30};
    static constexpr std::chrono::seconds slow_start{10};
    /// A 503 now and then is the store's way to spread its load.
    static constexpr unsigned turned_away_max = 5;

  private:
    struct state {
        clock::time_point out_since{};
        clock::time_point changed_at{};  // what began before tells nothing of the door as it is
        clock::time_point busy_until{};  // somebody looks, or a trial goes on, but no longer than that
        std::chrono::seconds pause = pause_min;
    };

    std::atomic<door_standing> standing_{door_standing::well};  // changed with `state_` locked, as the next two
    std::atomic<clock::rep> due_{0};
    std::atomic<clock::rep> well_since_{clock::time_point::min().time_since_epoch().count()};
    std::atomic<unsigned> turned_away_{0};  // 503 in a row
    guarded<state> state_;

  public:
    [[nodiscard]] door_standing standing() const noexcept { return standing_.load(std::memory_order_relaxed); }
    /// Whether requests are answered, by a 503 too.
    [[nodiscard]] bool is_up() const noexcept {
        const door_standing is = standing();
        return is == door_standing::well || is == door_standing::turning_away;
    }

    /// Of what an equal door in good health gets, 0 to 1.
    [[nodiscard]] double share(clock::time_point now) const noexcept;

    /// When it is tried again, if it is not well.
    [[nodiscard]] clock::time_point due() const noexcept;

    /// Whether the caller, and nobody else, is to look now if the door accepts connections; failed() or accepts() then.
    /// @param until nobody else looks, for who never comes to a result.
    bool take_look(clock::time_point now, clock::time_point until);
    void accepts(clock::time_point now);

    /// Whether a request now would be the one of a trial.
    [[nodiscard]] bool has_trial(clock::time_point now);
    /// Whether the caller's request, and no other, is that of the trial.
    bool take_trial(clock::time_point now, clock::time_point until);

    /// A request or a look has got no answer.
    /// @param began when it was sent there.
    /// @return whether the door is out by that, and was not before.
    bool failed(clock::time_point began, clock::time_point now);

    /// A request has got one.
    /// @return for how long the door was out or turned all away, if this is the end of that.
    std::optional<std::chrono::milliseconds> answered(unsigned status, clock::time_point began, clock::time_point now);

  private:
    void set_aside(state& held, door_standing as, clock::time_point now);
    bool turned_away(clock::time_point began, clock::time_point now);
    [[nodiscard]] bool is_for_trial(clock::time_point now) const noexcept;
};

}  // namespace seriesgate
