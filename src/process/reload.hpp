/// Takes a changed configuration over while running.
#pragma once

#include <functional>
#include <vector>

#include "admin/admin_service.hpp"
#include "config/load.hpp"
#include "process/web_access.hpp"

namespace seriesgate {

class series_limiter;

/// Knows the configuration in force. Reads it again and hands the limits to the limiter, to the log how to write, and
/// to web_access who may ask. Everything else (addresses, timeouts, sizes, ignoreLabels, the tenant header, state) is
/// fixed at the start: a change of it is told, not made. Threads: one, its own: files and patterns take a while, and no
/// request is to wait for them.
class reloader {
    config in_force_;
    const std::function<load_outcome()> read_again_;
    series_limiter& limiter_;
    web_access& web_;
    reload_metrics& metrics_;
    config_page& page_;

  public:
    /// @param page shows what is in force, from now on.
    reloader(const config& running, std::function<load_outcome()> read_again, series_limiter& limiter, web_access& web,
             reload_metrics& metrics, config_page& page);

    /// Reloads when it is asked for: once a second at most, for all who have asked before. Spawn it once, on an event
    /// loop that may wait for disks.
    /// @param begins,ends are called before and after each, if somebody wants to know.
    net::awaitable<void> run(reload_queue& asked, std::function<void()> begins = {}, std::function<void()> ends = {});

    /// Once, now. A bad file changes nothing. What came of it goes to the log, too.
    reload_outcome reload();

  private:
    reload_outcome take_over();
    reload_outcome tell_mistakes(const std::vector<config_error>& errors);
    void note_success();
};

}  // namespace seriesgate
