/// How late a thread is with what has come, and whether to turn new requests away for it.
#pragma once

#include <chrono>
#include <cstddef>

#include "system/clock.hpp"

namespace seriesgate {

/// Where requests come faster than they can be worked on, they wait in the sockets: each round of the thread through
/// all that is ready takes longer, and in the end nobody is answered in time. A probe that waits for its turn as they
/// do (delay_probe.hpp) tells how long a round takes.
///
/// After CoDel, it is the standing delay that counts: a giant among requests makes one round long, which is nobody's
/// fault and soon over. If two rounds in a row are too long, or one is in which many were worked on, there is more than
/// can be done. Then in each round that much time goes to requests, and those that come later in it are turned away. So
/// the thread is never idle, and the first round that is short again ends it.
/// Source: Nichols and Jacobson, "Controlling Queue Delay", 2012.
///
/// Pure: `now` is passed in. Threads: the one whose delay it is.
class queue_delay {
  public:
    using clock = monotonic_clock;

    /// So many are no giants.
    static constexpr std::size_t requests_many = 16;

  private:
    const clock::duration standing_max_;
    clock::time_point round_began_ = clock::time_point::max();
    std::size_t requests_ = 0;  // in this round
    clock::duration last_round_{0};

  public:
    explicit queue_delay(clock::duration standing_max) noexcept : standing_max_(standing_max) {}

    /// @param at when a probe goes to the end of the queue, if whoever sends it is not late, too.
    void begin_round(clock::time_point at) noexcept {
        round_began_ = at;
        requests_ = 0;
    }
    /// It has had its turn. @return how long that took.
    clock::duration end_round(clock::time_point now) noexcept { return last_round_ = late(now); }
    /// A request is worked on.
    void note_request() noexcept { ++requests_; }

    /// Whether this round is too long already, and not by accident.
    [[nodiscard]] bool is_standing(clock::time_point now) const noexcept {
        return (is_behind() || requests_ >= requests_many) && late(now) > standing_max_;
    }
    /// Whether requests wait for long enough that their senders may have given up meanwhile, be it for many requests or
    /// for one giant.
    [[nodiscard]] bool is_late(clock::time_point now) const noexcept {
        return is_behind() || late(now) > standing_max_ / 4;
    }
    /// Whether the last round was too long.
    [[nodiscard]] bool is_behind() const noexcept { return last_round_ > standing_max_; }

    /// How long this round has taken so far.
    [[nodiscard]] clock::duration late(clock::time_point now) const noexcept {
        return now > round_began_ ? now - round_began_ : clock::duration{0};
    }
};

}  // namespace seriesgate
