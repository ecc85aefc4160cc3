/// The web configuration while the gate runs.
#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/metrics.hpp"
#include "config/config_error.hpp"
#include "config/load_web.hpp"
#include "config/web_config.hpp"
#include "http/access_control.hpp"
#include "net/watched_file.hpp"

namespace seriesgate {

// --- Files that people and programs rewrite while the gate runs.

/// Tells when they are worth reading: when something about them has changed, and then nothing more for a while. Who
/// writes a file begins with an empty one. By a clock of its own: those of file systems may be wrong.
/// Threads: one at a time.
class debounced_files {
    struct watched {
        text_file file;
        std::string fault{};  ///< why it cannot be read
    };
    std::map<std::string, watched> files_;
    bool is_unread_ = true;  ///< at the start: what has changed since it was read is not missed
    std::optional<std::chrono::steady_clock::time_point> changed_;

  public:
    using clock = monotonic_clock;

    static constexpr auto settling = debounced_file::settling;

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

// --- What a web configuration asks of senders, beside that of another.

/// Which keys of them differ, but for TLS: names of parts, and never what they hold, for those are passwords.
std::vector<std::string> differences(const web_config& before, const web_config& after);

/// Why `after` is to be taken over by nobody while the gate runs.
/// @param file its name.
std::vector<config_error> mistakes_until_restart(const web_config& before, const web_config& after,
                                                 const std::string& file);

/// What senders have to prove by `before` and not by `after`: each as a mistake. What is less because users are gone,
/// with what they may, is not less protection.
std::vector<config_error> less_protected(const web_config& before, const web_config& after, const std::string& file);

/// Of one file; the answer to POST /-/reload has all.
inline constexpr std::size_t logged_mistakes_max = 10;

/// Reads the web configuration file again when it or a token file of it has changed, and hands it to who lets senders
/// in. By itself it never takes over what asks less of senders: half a file must not let anyone in. Its TLS belongs to
/// the listeners, and is fixed at the start.
/// Threads: any.
class web_access {
    const std::string file_;
    access_control& control_;
    gauge& successful_;
    std::mutex guard_;
    web_config in_force_;  ///< with the TLS of the start
    debounced_files files_;
    std::vector<std::string> mistakes_;  ///< for which the file is not taken
    std::vector<std::string> refused_;   ///< tokens
    debounced_files::clock::time_point told_{};

  public:
    using clock = debounced_files::clock;

    /// What lasts is told again.
    static constexpr std::chrono::minutes tells_again_after{10};

    /// @param file empty: there is none, and nothing to look at.
    /// @param running what has been read from it.
    /// @param successful whether the file is in force as it is.
    web_access(std::string file, const web_config& running, access_control& control, gauge& successful);

    /// Why a reload must not take this over.
    [[nodiscard]] std::vector<config_error> mistakes_in(const web_config& next);

    /// What differs from what is in force: keys.
    [[nodiscard]] std::vector<std::string> changes(const web_config& next);

    /// Whether its TLS is another one.
    [[nodiscard]] bool waits_for_restart(const web_config& next);

    /// Takes over what a reload has read, but for TLS. Throws std::bad_alloc, and has changed nothing then.
    void take_over(const web_config& next);

    /// Looks whether the files have changed, and takes them when they have settled. A bad one changes nothing; the log
    /// says so, and when it is well again. A token whose file is bad is refused.
    void refresh(clock::time_point now = clock::now());

  private:
    void judge(const web_outcome& read, clock::time_point now);
    [[nodiscard]] std::vector<config_error> hindrances(const web_config& next) const;
    std::vector<std::string> replace(const web_config& next);
    void note(std::vector<std::string> mistakes, std::vector<std::string> refused, clock::time_point now);
    void tell(clock::time_point now);
};

}  // namespace seriesgate
