/// A small file that holds a secret and may change while the gate runs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "config/secret_text.hpp"

namespace seriesgate {

/// Which contents a file has, as far as that can be seen without reading it. A file may be replaced (the mounted
/// secrets of Kubernetes) or written over.
struct file_mark {
    std::uint64_t device = 0;
    std::uint64_t inode = 0;
    std::int64_t bytes = 0;
    std::int64_t written_ns = 0;
    std::int64_t changed_ns = 0;

    bool operator==(const file_mark&) const = default;
};

/// A password or a token: the one line of a file, without its end. What it held last is kept while the file is gone or
/// holds nothing that would do; that it is so, and that it is no longer so, is logged once.
/// Threads: one at a time.
class watched_text {
    std::string key_;
    std::string path_;
    secret_text text_;
    std::optional<file_mark> seen_;  ///< nothing: read it in any case
    std::string fault_;              ///< what has been logged

  public:
    /// A header that holds more is none that a server takes.
    static constexpr std::size_t bytes_max = 8 * 1024;

    /// Reads it. Throws std::runtime_error with one line that names the key and the file.
    /// @param key of the configuration
    watched_text(std::string key, std::string path);

    /// Reads it again if it has changed. @return whether it says something else now.
    bool refresh();

    [[nodiscard]] const secret_text& text() const noexcept { return text_; }

  private:
    void note(const std::string& fault, bool is_new);
};

}  // namespace seriesgate
