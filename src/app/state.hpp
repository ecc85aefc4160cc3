/// Keeps the limiter's state over restarts.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "app/state_metrics.hpp"
#include "config/config.hpp"
#include "series/fingerprint.hpp"
#include "state/snapshot_file.hpp"
#include "state/state_directory.hpp"

namespace seriesgate {

class series_limiter;

/// What outlives the process: where the state is kept, and the secret that its fingerprints are made with.
struct installation {
    std::unique_ptr<state_directory> directory;  ///< null if the state is not to be kept
    std::string secret;                          ///< see state/secret_file.hpp

    /// Locks the directory and reads the secret, or makes one. Throws std::runtime_error if that cannot be done.
    explicit installation(const config& settings);
};

/// Saves to the directory, and tells the log and the metrics. Threads: one at a time.
class state_keeper {
    state_directory& directory_;
    const std::string secret_to_keep_;  // empty: it is in a file of its own
    const snapshot_file file_;
    series_limiter& limiter_;
    state_metrics& metrics_;
    std::uint64_t saved_revision_ = 0;

  public:
    /// Loads what is there. @param in has a directory. It, and what else is passed, outlives this.
    state_keeper(const config& settings, const installation& in, const hash_key& key, series_limiter& limiter,
                 state_metrics& metrics);

    /// What is called between two pieces of a save, see snapshot_file::save.
    using pause = std::function<void()>;

    /// @return whether the state is on disk now. If not, the log says why. Nothing that goes wrong here ends the gate.
    bool save(const pause& between = {}) noexcept;
    /// Saves if something has changed since it last did, or if the directory has gone. @return whether it has.
    bool save_if_changed(const pause& between = {}) noexcept;
    /// Tells that the state is not on disk, and why.
    void note_failure(std::string_view reason);

  private:
    void load();
    bool try_save(const pause& between);
};

}  // namespace seriesgate
