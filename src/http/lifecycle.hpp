/// Where the process is between its start and its end.
#pragma once

#include <atomic>
#include <cstdint>

namespace seriesgate {

enum class lifecycle_state : std::uint8_t {
    starting,
    ready,
    in_takeover,  ///< to another process, which may come to nothing: then it is ready again
    draining,
};

/// Goes from one stage to the next, and back only from in_takeover. Threads: any.
class lifecycle {
    std::atomic<lifecycle_state> stage_{lifecycle_state::starting};

  public:
    [[nodiscard]] lifecycle_state stage() const noexcept { return stage_.load(); }
    [[nodiscard]] bool draining() const noexcept { return stage() == lifecycle_state::draining; }
    [[nodiscard]] bool in_takeover() const noexcept { return stage() == lifecycle_state::in_takeover; }

    /// Does nothing once it drains: a signal may come before everything is ready.
    void become_ready() noexcept { go(lifecycle_state::starting, lifecycle_state::ready); }
    void drain() noexcept { stage_ = lifecycle_state::draining; }

    /// @return false if it is not ready.
    bool hand_over() noexcept { return go(lifecycle_state::ready, lifecycle_state::in_takeover); }
    /// It has come to nothing. @return false if it drains meanwhile.
    bool go_on() noexcept { return go(lifecycle_state::in_takeover, lifecycle_state::ready); }

  private:
    bool go(lifecycle_state from, lifecycle_state to) noexcept { return stage_.compare_exchange_strong(from, to); }
};

}  // namespace seriesgate
