/// Keeps the limiter's state over restarts.
#pragma once

#include <chrono>
#include <memory>
#include <stop_token>

#include "config/config.hpp"
#include "limit/admission.hpp"
#include "metrics/metrics.hpp"
#include "store/snapshot_file.hpp"

namespace seriesgate {

/// Saves to the directory, and tells the log and the metrics. Threads: one at a time.
class state_keeper {
    const snapshot_directory directory_;
    const std::chrono::milliseconds interval_;
    admission& limits_;
    gate_metrics& metrics_;

  public:
    /// Locks the directory and loads what is there. Throws std::runtime_error if the directory cannot be used.
    state_keeper(const config& settings, admission& limits, gate_metrics& metrics);

    /// @return whether the state is on disk now. If not, the log says why.
    bool save();
    /// Saves at every interval in which something has changed. @param stop ends it.
    void save_now_and_then(const std::stop_token& stop);

  private:
    void load();
};

/// @return null if the state is not to be kept.
std::unique_ptr<state_keeper> open_state(const config& settings, admission& limits, gate_metrics& metrics);

}  // namespace seriesgate
