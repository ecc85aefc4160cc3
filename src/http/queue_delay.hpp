/// How long requests wait for their thread, and when to reject new ones.
#pragma once

#include <cstddef>

#include "base/clock.hpp"

namespace seriesgate {

/// Under overload, requests wait in their sockets: each round of the thread through all ready events takes longer,
/// until every answer is too late. A probe (probe_delay()) waits its turn like a request, and so measures a round.
/// As in CoDel, only a standing delay counts: one large request makes one long round, which passes. Overload means two
/// long rounds in a row, or one with many requests. Then each round works on requests for standing_max, and rejects
/// later ones. So the thread never idles, and the first short round ends the state.
/// Source: Nichols and Jacobson, "Controlling Queue Delay", 2012. Pure: `now` is a parameter. Threads: its worker's.
class queue_delay {
  public:
    using clock = monotonic_clock;

    /// With this many requests a long round means load, not one large request.
    static constexpr std::size_t requests_many = 16;

  private:
    const clock::duration standing_max_;
    clock::time_point round_began_ = clock::time_point::max();
    std::size_t requests_ = 0;  // in this round
    clock::duration last_round_{0};

  public:
    explicit queue_delay(clock::duration standing_max) noexcept : standing_max_(standing_max) {}

    /// @param at when the probe queues, if its own thread is on time.
    void begin_round(clock::time_point at) noexcept {
        round_began_ = at;
        requests_ = 0;
    }
    /// The probe had its turn. @return the duration of the round.
    clock::duration end_round(clock::time_point now) noexcept { return last_round_ = late(now); }
    /// Requests that are worked on while the probe rests do not count.
    void note_request(clock::time_point now) noexcept { requests_ += now >= round_began_ ? 1 : 0; }

    /// Whether to reject a new request: this round is too long, and not due to one large request.
    [[nodiscard]] bool is_standing(clock::time_point now) const noexcept {
        return (is_behind() || requests_ >= requests_many) && late(now) > standing_max_;
    }
    /// Whether senders may have given up meanwhile, because of load or one large request.
    [[nodiscard]] bool is_late(clock::time_point now) const noexcept {
        return is_behind() || late(now) > standing_max_ / 4;
    }
    [[nodiscard]] bool is_behind() const noexcept { return last_round_ > standing_max_; }

    [[nodiscard]] clock::duration late(clock::time_point now) const noexcept {
        return now > round_began_ ? now - round_began_ : clock::duration{0};
    }
};

}  // namespace seriesgate
