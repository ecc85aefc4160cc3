/// The limiter's state on disk: a directory that one process owns, with one file in it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "limit/admission.hpp"

namespace seriesgate {

/// `dir/state`, written whole to `dir/state.new`, synced and renamed, so that there is always one complete file or
/// none.
///
/// Format: "SGSTATE\n", format version (4 bytes), identity (8 bytes), the limiter's state (limit/snapshot.cpp), and the
/// XXH3-64 of everything before it. The identity tells by what rules
/// fingerprints were made (ignoreLabels): a file with another one has other series in it.
///
/// Threads: one at a time.
class snapshot_directory {
    std::filesystem::path directory_;
    std::uint64_t identity_;
    int lock_ = -1;

  public:
    /// Makes the directory if it is not there and locks it against other processes.
    /// Throws std::runtime_error with one readable line if that cannot be done.
    snapshot_directory(std::filesystem::path directory, std::uint64_t identity);
    snapshot_directory(const snapshot_directory&) = delete;
    snapshot_directory& operator=(const snapshot_directory&) = delete;
    ~snapshot_directory();

    enum class load_result : std::uint8_t { loaded, absent, refused };
    struct load_outcome {
        load_result result = load_result::absent;
        std::string reason;  ///< why it was refused, one line
    };
    /// Takes the file's state over, wholly or not at all.
    load_outcome load(admission& limits, time_point now) const;

    enum class save_result : std::uint8_t { saved, window_ended, failed };
    struct save_outcome {
        save_result result = save_result::saved;
        std::string reason;       ///< why it failed, one line
        std::uint64_t bytes = 0;  ///< of the file, if saved
    };
    /// Unless saved, the file of before is kept. A window that ends meanwhile is no fault: try again.
    save_outcome save(admission& limits) const;
};

}  // namespace seriesgate
