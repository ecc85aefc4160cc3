/// Keeps the limiter's state over restarts.
#pragma once

#include <chrono>
#include <memory>
#include <stop_token>
#include <string_view>

#include "config/config.hpp"
#include "limit/admission.hpp"
#include "metrics/metrics.hpp"
#include "store/snapshot_file.hpp"
#include "store/state_directory.hpp"

namespace seriesgate {

/// Saves to the directory, and tells the log and the metrics. Threads: one at a time.
class state_keeper {
    state_directory directory_;
    const snapshot_file file_;
    const std::chrono::milliseconds interval_;
    admission& limits_;
    gate_metrics& metrics_;

  public:
    /// Locks the directory and loads what is there. Throws std::runtime_error if the directory cannot be used.
    state_keeper(const config& settings, admission& limits, gate_metrics& metrics);

    /// @return whether the state is on disk now. If not, the log says why. Nothing that goes wrong here ends the gate.
    bool save() noexcept;
    /// Saves at every interval in which something has changed, or the directory has gone. @param stop ends it.
    void save_now_and_then(const std::stop_token& stop);

  private:
    void load();
    bool try_save();
    void note_failure(std::string_view reason);
};

/// @return null if the state is not to be kept.
std::unique_ptr<state_keeper> open_state(const config& settings, admission& limits, gate_metrics& metrics);

}  // namespace seriesgate
