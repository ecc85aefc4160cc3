/// The limiter's state as one file of the state directory.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "limit/limiter.hpp"
#include "limit/window.hpp"
#include "process/state_directory.hpp"

namespace seriesgate {

/// The file `state`, always whole or absent. Threads: one at a time.
///
/// Format: "SGSTATE\n", format version (4 bytes), two identities (8 bytes each), the limiter's state
/// (limit/snapshot.cpp), and the XXH3-64 of everything before it. The identities stand for ignoreLabels and for the
/// secret: with other ones the fingerprints differ.
class state_file {
  public:
    /// The version of all parts: this header, limit/snapshot.cpp, limit/budget.hpp and series/fingerprint.hpp. Other
    /// versions are refused. tests/golden/README.md explains how to raise it; its tests fail if a change needs that.
    /// Version 3 had fingerprints without a secret.
    static constexpr std::uint32_t format_version = 5;

    struct identities {
        std::uint64_t ignored_labels = 0;  ///< see ignored_labels_identity
        std::uint64_t secret = 0;          ///< see hash_key::identity
    };

    state_file(const state_directory& directory, const identities& of) : directory_(directory), identities_(of) {}

    enum class load_result : std::uint8_t { loaded, absent, refused };
    struct load_outcome {
        load_result result = load_result::absent;
        std::string reason;  ///< the refusal, one line
    };
    /// Loads the file completely or not at all.
    load_outcome load(series_limiter& limiter, time_point now) const;

    enum class save_result : std::uint8_t { saved, window_ended, failed };
    struct save_outcome {
        save_result result = save_result::saved;
        std::string reason;       ///< the failure, one line
        std::uint64_t bytes = 0;  ///< size of the saved file
    };
    /// Keeps the old file unless saved. If a window has ended during the save, try again.
    /// @param between called after each MiB without a lock, to slow the writing down. Must not throw. May be empty.
    save_outcome save(series_limiter& limiter, const std::function<void()>& between = {}) const;

  private:
    const state_directory& directory_;
    identities identities_;
};

}  // namespace seriesgate
