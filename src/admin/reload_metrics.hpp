/// What is counted about reloads of the configuration.
#pragma once

#include "metrics/counters.hpp"

namespace seriesgate {

class exposition;

/// Threads: any.
struct reload_metrics {
    counter requests;       ///< SIGHUP and POST /-/reload
    counter reads;          ///< times that the configuration was read for them
    gauge successful;       ///< 1 unless the last reload failed
    gauge success_seconds;  ///< since 1970: when the configuration was last taken over
    gauge web_successful;   ///< 1 unless the web configuration file, or one of a token, is not in force as it is
};

/// Its families.
void write(exposition& out, const reload_metrics& metrics);

}  // namespace seriesgate
