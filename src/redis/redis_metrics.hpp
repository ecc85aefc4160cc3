/// What is counted about connections to the shared store.
#pragma once

#include "metrics/counters.hpp"

namespace seriesgate {

class exposition;

/// Threads: any.
struct redis_metrics {
    counter connections;       ///< that were made, and could be used
    counter connect_failures;  ///< attempts that came to nothing, whatever the reason
    counter late_replies;      ///< to calls that had been given up
};

/// Its families.
void write(exposition& out, const redis_metrics& metrics);

}  // namespace seriesgate
