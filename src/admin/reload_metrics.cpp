#include "admin/reload_metrics.hpp"

#include "metrics/exposition.hpp"

namespace seriesgate {

void write(exposition& out, const reload_metrics& metrics) {
    write_counter(out, "seriesgate_config_reload_requests_total",
                  "Times that a reload was asked for, by SIGHUP or POST /-/reload.", metrics.requests);
    write_counter(out, "seriesgate_config_reloads_total",
                  "Times that the configuration was read again: once a second at most, for all who have asked.",
                  metrics.reads);
    write_gauge(out, "seriesgate_config_last_reload_successful",
                "Whether the last attempt to read the configuration took it over.", metrics.successful);
    write_gauge(out, "seriesgate_config_last_reload_success_timestamp_seconds",
                "When the configuration was last taken over, since 1970.", metrics.success_seconds);
    write_gauge(out, "seriesgate_web_config_last_reload_successful",
                "Whether the web configuration file is in force as it is, with all of its tokens.",
                metrics.web_successful);
}

}  // namespace seriesgate
