/// Small files that may change while the gate runs: plain, debounced, and with a secret.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "base/clock.hpp"
#include "core/result.hpp"
#include "core/secret_text.hpp"

namespace seriesgate {

// --- A file that is reread when it changes.

/// Rereads the file only if its inode, size or times have changed, or if the last write is too recent for its times to
/// tell. Waits for the disk. Threads: one at a time.
class text_file {
    struct stamp {
        std::uint64_t device;
        std::uint64_t inode;
        std::uint64_t bytes;
        std::chrono::system_clock::time_point changed;

        bool operator==(const stamp&) const = default;
    };

    std::string path_;
    std::string text_, fault_;
    std::optional<stamp> read_;  // nothing while the times are too recent

  public:
    static constexpr std::size_t bytes_max = 1 << 20;

    explicit text_file(std::string path) : path_(std::move(path)) {}

    [[nodiscard]] const std::string& path() const noexcept { return path_; }
    /// The text as last read; empty if never read. Stays while the file cannot be read.
    [[nodiscard]] const std::string& text() const noexcept { return text_; }
    /// Why the file cannot be read; empty if it can.
    [[nodiscard]] const std::string& fault() const noexcept { return fault_; }

    /// @return whether text() or fault() has changed.
    bool refresh();

  private:
    /// @return whether the text has changed; or the error.
    [[nodiscard]] result<bool, std::string> read();
};

// --- A file without half-written states.

struct file_look {
    monotonic_clock::time_point now = monotonic_clock::now();
    bool are_whole = false;  ///< for a reload by request: the files are complete
};

/// The last complete state of a file. A program that writes a file empties it first, so a change counts once the file
/// has been unchanged for two seconds. Uses the gate's clock: that of a file system may be wrong. Threads: one at a
/// time.
class debounced_file {
    text_file file_;
    std::string text_, fault_;
    std::optional<std::chrono::steady_clock::time_point> changed_;

  public:
    /// Some file systems have times in steps of two seconds. So a writer has this long between two writes.
    static constexpr std::chrono::seconds settling{2};

    explicit debounced_file(std::string path) : file_(std::move(path)) {}

    /// For the start: takes the current content. Waits for the disk. @return the error, or an empty text
    const std::string& load();

    /// Checks the file. Waits for the disk. Throws std::bad_alloc; then the next call sees the same change.
    /// @return whether text() or fault() has changed.
    [[nodiscard]] bool refresh(const file_look& look);

    [[nodiscard]] const std::string& path() const noexcept { return file_.path(); }
    /// Stays while the file cannot be read.
    [[nodiscard]] const std::string& text() const noexcept { return text_; }
    /// Why the file cannot be read; empty if it can.
    [[nodiscard]] const std::string& fault() const noexcept { return fault_; }
};

/// A password or token: the single line of a file, without its end. Never takes a half-written file, see
/// debounced_file. Keeps the last secret while the file is missing or has none, and logs the beginning and the end of
/// that once. Threads: one at a time.
class secret_file {
    std::string key_;
    debounced_file file_;
    secret_text secret_;
    bool is_untaken_ = false;  ///< the file has changed; secret_ and fault_ do not reflect it yet
    std::string fault_;

  public:
    /// Servers accept no longer header.
    static constexpr std::size_t bytes_max = 8 * 1024;

    /// Reads the file. Throws std::runtime_error with one line that names key and file. @param key of the configuration
    secret_file(std::string key, std::string path);

    /// Rereads the file if it has changed. Waits for the disk. @return whether secret() has changed.
    bool refresh(const file_look& look = {});

    [[nodiscard]] const secret_text& secret() const noexcept { return secret_; }
    /// Why the file holds no secret now, without the key; empty if it does.
    [[nodiscard]] const std::string& fault() const noexcept { return fault_; }

  private:
    [[nodiscard]] std::string fault_of_file() const;
};

}  // namespace seriesgate
