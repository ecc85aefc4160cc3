/// Where the process is between its start and its end.
#pragma once

#include <atomic>
#include <cstdint>

namespace seriesgate {

enum class life_stage : std::uint8_t {
    starting,
    ready,
    handing_over,  ///< to another process, which may come to nothing: then it is ready again
    draining,
};

/// Goes from one stage to the next, and back only from handing_over. Threads: any.
class process_life {
    std::atomic<life_stage> stage_{life_stage::starting};

  public:
    [[nodiscard]] life_stage stage() const noexcept { return stage_.load(); }
    [[nodiscard]] bool draining() const noexcept { return stage() == life_stage::draining; }
    [[nodiscard]] bool handing_over() const noexcept { return stage() == life_stage::handing_over; }

    /// Does nothing once it drains: a signal may come before everything is ready.
    void become_ready() noexcept { go(life_stage::starting, life_stage::ready); }
    void drain() noexcept { stage_ = life_stage::draining; }

    /// @return false if it is not ready.
    bool hand_over() noexcept { return go(life_stage::ready, life_stage::handing_over); }
    /// It has come to nothing. @return false if it drains meanwhile.
    bool go_on() noexcept { return go(life_stage::handing_over, life_stage::ready); }

  private:
    bool go(life_stage from, life_stage to) noexcept { return stage_.compare_exchange_strong(from, to); }
};

}  // namespace seriesgate
