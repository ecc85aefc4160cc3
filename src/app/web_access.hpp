/// The web configuration while the gate runs.
#pragma once

#include <cstddef>
#include <mutex>
#include <string>
#include <vector>

#include "access/access_control.hpp"
#include "app/settled_files.hpp"
#include "config/config_error.hpp"
#include "config/load_web.hpp"
#include "metrics/counters.hpp"

namespace seriesgate {

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
    settled_files files_;
    std::vector<std::string> mistakes_;  ///< for which the file is not taken
    std::vector<std::string> refused_;   ///< tokens
    settled_files::clock::time_point told_{};

  public:
    using clock = settled_files::clock;

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
