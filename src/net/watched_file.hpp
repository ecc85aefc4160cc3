/// A small file that holds a secret and may change while the gate runs.
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

// --- A small file whose text may change while the gate runs.

/// Reads the file again only if something about it has changed (its inode, size or times), or if it was written so
/// lately that its times would not tell. Waits for the disk. Threads: one at a time.
class text_file {
    struct stamp {
        std::uint64_t device;
        std::uint64_t inode;
        std::uint64_t bytes;
        std::chrono::system_clock::time_point changed;

        bool operator==(const stamp&) const = default;
    };

    std::string path_;
    std::string text_;
    std::optional<stamp> read_;  // nothing until it can be relied upon

  public:
    static constexpr std::size_t bytes_max = 1 << 20;

    explicit text_file(std::string path) : path_(std::move(path)) {}

    [[nodiscard]] const std::string& path() const noexcept { return path_; }
    /// As it was when it was last read; empty if it never was.
    [[nodiscard]] const std::string& text() const noexcept { return text_; }

    /// @return whether the text is another one now; or why it cannot be read, and then text() stays.
    [[nodiscard]] result<bool, std::string> refresh();
};

// --- A small file that people and programs rewrite while the gate runs.

/// One look at files that may have changed.
struct file_look {
    monotonic_clock::time_point now = monotonic_clock::now();
    bool are_whole = false;  ///< somebody asks for a reload: nobody is writing them
};

/// A file as it was when it last was whole. A program that writes a file begins with an empty one, so a change counts
/// once nothing more has changed for two seconds. The clock is the gate's: that of a file system may be wrong.
/// Threads: one at a time.
class debounced_file {
    text_file file_;
    std::string text_, fault_;
    std::string last_fault_;  ///< of the last look, whether it stays or not
    std::optional<std::chrono::steady_clock::time_point> changed_;

  public:
    /// The times of some file systems go in steps of two seconds. So a program has this long between two writes.
    static constexpr std::chrono::seconds settling{2};

    explicit debounced_file(std::string path) : file_(std::move(path)) {}

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

/// A password or a token: the one line of a file, without its end. A half-written file is not read, see debounced_file.
/// While the file is gone or holds no secret, the last one stays. The log says that once, and once that it is over.
/// Threads: one at a time.
class secret_file {
    std::string key_;
    debounced_file file_;
    secret_text secret_;
    bool is_untaken_ = false;  ///< the file has changed, and secret_ and fault_ do not say so yet
    std::string fault_;

  public:
    /// A header that holds more is none that a server takes.
    static constexpr std::size_t bytes_max = 8 * 1024;

    /// Reads it. Throws std::runtime_error with one line that names the key and the file.
    /// @param key of the configuration
    secret_file(std::string key, std::string path);

    /// Reads it again if it has changed. Waits for the disk. @return whether secret() is another one now.
    bool refresh(const file_look& look = {});

    [[nodiscard]] const secret_text& secret() const noexcept { return secret_; }
    /// Why the file holds no secret now: a text without the key; empty if it does.
    [[nodiscard]] const std::string& fault() const noexcept { return fault_; }

  private:
    [[nodiscard]] std::string fault_of_file() const;
};

}  // namespace seriesgate
