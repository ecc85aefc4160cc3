/// Where the process is between its start and its end.
#pragma once

#include <atomic>
#include <cstdint>

namespace seriesgate {

enum class life_stage : std::uint8_t { starting, ready, draining };

/// Goes from one stage to the next, never back. Threads: any.
class process_life {
    std::atomic<life_stage> stage_{life_stage::starting};

  public:
    [[nodiscard]] life_stage stage() const noexcept { return stage_.load(); }
    [[nodiscard]] bool draining() const noexcept { return stage() == life_stage::draining; }

    /// Does nothing once it drains: a signal may come before everything is ready.
    void become_ready() noexcept {
        auto expected = life_stage::starting;
        stage_.compare_exchange_strong(expected, life_stage::ready);
    }
    void drain() noexcept { stage_ = life_stage::draining; }
};

}  // namespace seriesgate
