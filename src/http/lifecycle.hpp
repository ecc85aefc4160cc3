/// The lifecycle of the process: starting, ready, in takeover, draining.
#pragma once

#include <atomic>
#include <cstdint>

namespace seriesgate {

enum class lifecycle_state : std::uint8_t {
    starting,
    ready,
    in_takeover,  ///< by another process; a failed takeover returns to ready
    draining,
};

/// Threads: any.
class lifecycle {
    std::atomic<lifecycle_state> stage_{lifecycle_state::starting};

  public:
    [[nodiscard]] lifecycle_state stage() const noexcept { return stage_.load(); }
    [[nodiscard]] bool draining() const noexcept { return stage() == lifecycle_state::draining; }
    [[nodiscard]] bool in_takeover() const noexcept { return stage() == lifecycle_state::in_takeover; }

    /// No effect while draining: a signal may come before the gate is ready.
    void become_ready() noexcept { go(lifecycle_state::starting, lifecycle_state::ready); }
    void drain() noexcept { stage_ = lifecycle_state::draining; }

    /// @return false if not ready.
    bool hand_over() noexcept { return go(lifecycle_state::ready, lifecycle_state::in_takeover); }
    /// After a failed takeover. @return false if draining.
    bool go_on() noexcept { return go(lifecycle_state::in_takeover, lifecycle_state::ready); }

  private:
    bool go(lifecycle_state from, lifecycle_state to) noexcept { return stage_.compare_exchange_strong(from, to); }
};

}  // namespace seriesgate
