/// Reloads the configuration while the gate runs.
#pragma once

#include <functional>
#include <vector>

#include "admin/admin_service.hpp"
#include "config/load.hpp"
#include "process/web_access.hpp"

namespace seriesgate {

class series_limiter;

/// Holds the configuration in force. A reload applies limits, log settings and web access. Everything else (addresses,
/// timeouts, sizes, ignoreLabels, the tenant header, state) is fixed at the start; changes of it are only reported.
/// Threads: its own, because files and patterns take a while.
class reloader {
    config in_force_;
    const std::function<load_outcome()> read_again_;
    series_limiter& limiter_;
    web_access& web_;
    reload_metrics& metrics_;
    config_page& page_;

  public:
    /// @param page shows the configuration in force.
    reloader(const config& running, std::function<load_outcome()> read_again, series_limiter& limiter, web_access& web,
             reload_metrics& metrics, config_page& page);

    /// Reloads on request, at most once a second, for all waiting requests together. Spawn it once, on a loop for disk
    /// work.
    /// @param begins,ends called before and after each reload; may be empty.
    net::awaitable<void> run(reload_queue& asked, std::function<void()> begins = {}, std::function<void()> ends = {});

    /// Reloads now and logs the result. A bad file changes nothing.
    reload_outcome reload();

  private:
    reload_outcome refuse(const std::vector<config_error>& errors);
    void note_success();
};

}  // namespace seriesgate
