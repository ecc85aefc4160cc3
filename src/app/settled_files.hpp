/// Files that people and programs rewrite while the gate runs.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "net/watched_file.hpp"
#include "system/clock.hpp"

namespace seriesgate {

/// Tells when they are worth reading: when something about them has changed, and then nothing more for a while. Who
/// writes a file begins with an empty one. By a clock of its own: those of file systems may be wrong.
/// Threads: one at a time.
class settled_files {
    struct watched {
        text_file file;
        std::string fault{};  ///< why it cannot be read
    };
    std::map<std::string, watched> files_;
    bool is_unread_ = true;  ///< at the start: what has changed since it was read is not missed
    std::optional<std::chrono::steady_clock::time_point> changed_;

  public:
    using clock = monotonic_clock;

    static constexpr auto settling = settled_file::settling;

    /// Looks at these from now on, and at no others. @return whether one of them was not known: then all have to
    /// settle.
    bool watch(const std::vector<std::string>& paths);

    /// Looks at them. @return whether they are worth reading now.
    bool look(clock::time_point now);

    /// They have been read, by who then has looked once more.
    void note_read() noexcept { is_unread_ = false; }
    /// They are worth reading once more.
    void note_unread() noexcept { is_unread_ = true; }

  private:
    static bool look_at(watched& one);
};

}  // namespace seriesgate
