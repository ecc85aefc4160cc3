/// A small file that holds a secret and may change while the gate runs.
#pragma once

#include <cstddef>
#include <string>

#include "config/secret_text.hpp"
#include "net/text_file.hpp"

namespace seriesgate {

/// A password or a token: the one line of a file, without its end. What it held last is kept while the file is gone or
/// holds nothing that would do; that it is so, and that it is no longer so, is logged once.
/// Threads: one at a time.
class watched_text {
    std::string key_;
    text_file file_;
    secret_text text_;
    std::string fault_;  ///< what has been logged

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
    [[nodiscard]] std::string read();
};

}  // namespace seriesgate
