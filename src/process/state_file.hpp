/// The limiter's state on disk: one file in a directory that this process owns.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "limit/snapshot.hpp"
#include "limit/window.hpp"
#include "process/state_directory.hpp"

namespace seriesgate {

class series_limiter;

/// The file `state`, always whole or absent.
///
/// Format: "SGSTATE\n", format version (4 bytes), two identities (8 bytes each), the limiter's state
/// (limit/snapshot.cpp), and the XXH3-64 of everything before it. The identities tell which labels fingerprints leave
/// out (ignoreLabels), and with what secret they were made: a file with another one has other series in it.
///
/// Threads: one at a time.
class snapshot_file {
  public:
    /// The one version number of all that a state file is made of: what stands here, in limit/snapshot.cpp and in
    /// limit/budget_records.cpp, and how fingerprints are made (series/fingerprint.hpp). Files of other formats are
    /// refused. tests/golden/README.md says what to do when it is raised; those tests fail if it should have been.
    /// 3 had fingerprints that anybody could compute.
    static constexpr std::uint32_t format_version = 5;

    struct identities {
        std::uint64_t ignored_labels = 0;  ///< see ignored_labels_identity
        std::uint64_t secret = 0;          ///< see hash_key::identity
    };

    snapshot_file(const state_directory& directory, const identities& of) : directory_(directory), identities_(of) {}

    enum class load_result : std::uint8_t { loaded, absent, refused };
    struct load_outcome {
        load_result result = load_result::absent;
        std::string reason;  ///< why it was refused, one line
    };
    /// Takes the file's state over, wholly or not at all.
    load_outcome load(series_limiter& limiter, time_point now) const;

    enum class save_result : std::uint8_t { saved, window_ended, failed };
    struct save_outcome {
        save_result result = save_result::saved;
        std::string reason;       ///< why it failed, one line
        std::uint64_t bytes = 0;  ///< of the file, if saved
    };
    /// Unless saved, the file of before is kept. A window that ends meanwhile is no fault: try again.
    /// @param between called after each MiB, without any lock, for who does not want to write at full speed. Must not
    /// throw. May be empty.
    save_outcome save(series_limiter& limiter, const std::function<void()>& between = {}) const;

  private:
    const state_directory& directory_;
    identities identities_;
};

}  // namespace seriesgate
