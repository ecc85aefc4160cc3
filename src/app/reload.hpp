/// Takes a changed configuration over while running.
#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <string>

#include "config/config.hpp"
#include "http/worker.hpp"
#include "limit/admission.hpp"

namespace seriesgate {

/// What the limiter needs of a configuration.
limit_settings limits_of(const config& settings);

/// Reads the configuration again and hands the limits to the limiter. Everything else (addresses, timeouts, sizes,
/// ignoreLabels, the tenant header, state) is fixed at the start: a change of it is told, not made.
/// Threads: any; one reload at a time.
class reloader {
    const config& running_;
    const std::function<load_outcome()> read_again_;
    admission& limits_;
    gate_metrics& metrics_;
    std::mutex one_at_a_time_;

  public:
    reloader(const config& running, std::function<load_outcome()> read_again, admission& limits, gate_metrics& metrics);

    /// A bad file changes nothing. What came of it goes to the log too.
    reload_outcome operator()();

  private:
    void note_success();
};

}  // namespace seriesgate
