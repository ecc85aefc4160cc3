/// A small file that holds a secret and may change while the gate runs.
#pragma once

#include <cstddef>
#include <string>

#include "core/secret_text.hpp"
#include "net/settled_file.hpp"

namespace seriesgate {

/// A password or a token: the one line of a file, without its end. A half-written file is not read, see settled_file.
/// While the file is gone or holds no secret, the last one stays. The log says that once, and once that it is over.
/// Threads: one at a time.
class secret_file {
    std::string key_;
    settled_file file_;
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
