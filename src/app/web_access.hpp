/// The web configuration while the gate runs.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "access/access_control.hpp"
#include "config/web_config.hpp"

namespace seriesgate {

/// Reads the web configuration file again when it or a token file of it has changed, and hands it to who lets senders
/// in. What TLS it asks for is not looked at: that belongs to the listeners.
/// Threads: any.
class web_access {
    /// What can be seen of a file without reading it.
    struct mark {
        unsigned long long inode = 0;
        long long bytes = 0;
        long long written_ns = 0;

        bool operator==(const mark&) const = default;
    };
    using marks = std::map<std::string, mark>;

    const std::string file_;
    access_control& control_;
    std::mutex guard_;
    web_config in_force_;
    marks seen_;                         ///< none at the start: what has changed since it was read is not missed
    std::vector<std::string> mistakes_;  ///< that have been told, while the file is no good

  public:
    /// @param file empty: there is none, and nothing to look at.
    /// @param running what has been read from it.
    web_access(std::string file, const web_config& running, access_control& control);

    /// What differs from what is in force: keys.
    [[nodiscard]] std::vector<std::string> changes(const web_config& next);

    /// Takes over what a reload has read. Throws std::bad_alloc, and has changed nothing then.
    void take_over(const web_config& next);

    /// Looks whether the files have changed. A bad one changes nothing; the log says so, and when it is well again.
    void refresh();

  private:
    static mark mark_of(const std::string& file);
    [[nodiscard]] marks marks_now() const;
    std::vector<std::string> replace(const web_config& next);
    void note_mistakes(std::vector<std::string> found);
};

}  // namespace seriesgate
