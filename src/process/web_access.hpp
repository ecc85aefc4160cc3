/// Rereads the web configuration file while the gate runs.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "base/metrics.hpp"
#include "config/config.hpp"
#include "config/config_error.hpp"
#include "config/load.hpp"
#include "http/access_control.hpp"
#include "net/watched_file.hpp"

namespace seriesgate {

/// Tells when a set of files is worth reading: after a change, once nothing has changed for a while. Writing a file
/// often begins with an empty one. Uses the process' clock, since those of file systems may be wrong.
/// Threads: one at a time.
class debounced_files {
    std::map<std::string, text_file> files_;
    bool is_unread_ = true;  ///< true at the start, to catch changes since the first read
    std::optional<std::chrono::steady_clock::time_point> changed_;

  public:
    using clock = monotonic_clock;

    static constexpr auto settling = debounced_file::settling;

    /// Replaces the list of files. @return whether it has a new one; then all have to settle.
    bool watch(const std::vector<std::string>& paths);

    /// @return whether to read the files now.
    bool look(clock::time_point now);

    /// Call it after reading and a further look().
    void note_read() noexcept { is_unread_ = false; }
    /// Makes look() report them again.
    void note_unread() noexcept { is_unread_ = true; }
};

/// The changed keys, except TLS. Never their values, which may be passwords.
std::vector<std::string> differences(const web_config& before, const web_config& after);

/// Why `after` needs a restart. @param file its name.
std::vector<config_error> mistakes_until_restart(const web_config& before, const web_config& after,
                                                 const std::string& file);

/// Each protection of `before` that `after` lacks, as a mistake. The removal of a user with the user's rights is none.
std::vector<config_error> less_protected(const web_config& before, const web_config& after, const std::string& file);

inline constexpr std::string_view web_tls_key = "tls_server_config";

/// Per file; the answer to POST /-/reload has all.
inline constexpr std::size_t logged_mistakes_max = 10;

/// Rereads the web configuration file when it or a token file changes, and gives it to access_control. By itself it
/// never accepts weaker protection: half a file must not admit anyone. TLS is fixed at the start. Threads: any.
class web_access {
    const std::string file_;
    access_control& control_;
    gauge& successful_;
    std::mutex guard_;
    web_config in_force_;  ///< with the TLS of the start
    debounced_files files_;
    std::vector<std::string> mistakes_;  ///< why the file is not in force
    std::vector<std::string> refused_;   ///< errors of token files
    bool are_tls_files_taken_ = true;
    debounced_files::clock::time_point logged_at_{};

  public:
    using clock = debounced_files::clock;

    /// Repeats lasting errors in the log.
    static constexpr std::chrono::minutes logs_again_after{10};

    /// @param file empty: nothing to reread.
    /// @param running the configuration read at the start.
    /// @param successful 1 if the file is in force as it is, and the files that it names.
    web_access(std::string file, const web_config& running, access_control& control, gauge& successful);

    /// Why a reload must not apply this.
    [[nodiscard]] std::vector<config_error> mistakes_in(const web_config& next);

    /// The keys that differ; web_tls_key waits for a restart.
    [[nodiscard]] std::vector<std::string> differences_to(const web_config& next);

    /// Applies a reload, except TLS. Throws std::bad_alloc; then nothing has changed.
    /// @param with the rest of the reload: called once nothing else can fail.
    void take_over(
        const web_config& next, const std::function<void()>& with = [] {});

    /// Rereads settled changes. A bad file changes nothing; the log tells when a file is bad and good again. Refuses
    /// tokens of bad files.
    void refresh(clock::time_point now = clock::now());

    /// @param are_taken whether the files of tls_server_config are in force as they are.
    void note_tls_files(bool are_taken);

  private:
    void judge(const web_outcome& read, clock::time_point now);
    [[nodiscard]] std::vector<config_error> hindrances(const web_config& next) const;
    std::vector<std::string> replace(
        const web_config& next, const std::function<void()>& with = [] {});
    void note(std::vector<std::string> mistakes, std::vector<std::string> refused, clock::time_point now);
    void log_mistakes(clock::time_point now);
    void show();
};

}  // namespace seriesgate
