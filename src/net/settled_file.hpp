/// A small file that people and programs rewrite while the gate runs.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <utility>

#include "net/text_file.hpp"
#include "system/clock.hpp"

namespace seriesgate {

/// One look at files that may have changed.
struct file_look {
    monotonic_clock::time_point now = monotonic_clock::now();
    bool are_whole = false;  ///< somebody asks for a reload: nobody is writing them
};

/// A file as it was when it last was whole. A program that writes a file begins with an empty one, so a change counts
/// once nothing more has changed for two seconds. The clock is the gate's: that of a file system may be wrong.
/// Threads: one at a time.
class settled_file {
    text_file file_;
    std::string text_, fault_;
    std::string last_fault_;  ///< of the last look, whether it stays or not
    std::optional<std::chrono::steady_clock::time_point> changed_;

  public:
    /// The times of some file systems go in steps of two seconds. So a program has this long between two writes.
    static constexpr std::chrono::seconds settling{2};

    explicit settled_file(std::string path) : file_(std::move(path)) {}

    /// For the start: takes what is there. Waits for the disk. @return why the file cannot be read, or nothing
    const std::string& load();

    /// Looks at the file. Waits for the disk. Throws std::bad_alloc; then the next call finds the same.
    /// @return whether text() or fault() is another one now.
    [[nodiscard]] bool refresh(const file_look& look);

    [[nodiscard]] const std::string& path() const noexcept { return file_.path(); }
    /// It stays while the file cannot be read.
    [[nodiscard]] const std::string& text() const noexcept { return text_; }
    /// Why the file cannot be read; empty if it can.
    [[nodiscard]] const std::string& fault() const noexcept { return fault_; }
};

}  // namespace seriesgate
