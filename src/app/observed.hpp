/// Keeps what was seen of series over restarts.
#pragma once

#include <chrono>
#include <functional>

#include "app/culprits.hpp"
#include "limit/window.hpp"
#include "series/fingerprint.hpp"
#include "state/observed_file.hpp"
#include "state/state_directory.hpp"
#include "system/clock.hpp"

namespace seriesgate {

/// Saves to the directory, and tells the log. Threads: one at a time.
class observed_keeper {
    const state_directory& directory_;
    observed_file file_;
    culprits& noted_;
    const std::function<void()> catch_up_;
    std::chrono::steady_clock::time_point saved_ = monotonic_clock::now();

  public:
    /// Loads what is there.
    /// @param catch_up has everything counted that has been seen by now; called before anything is saved.
    observed_keeper(const state_directory& directory, const hash_key& key, culprits& noted, time_point now,
                    std::function<void()> catch_up);

    /// What goes wrong is said in the log, and ends nothing.
    void save() noexcept;
    /// Saves if the last time was a minute ago, and the directory is still ours.
    void save_now_and_then() noexcept;
};

}  // namespace seriesgate
