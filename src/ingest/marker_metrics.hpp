/// What is counted about markers.
#pragma once

#include "metrics/counters.hpp"

namespace seriesgate {

class exposition;

/// Samples of markers, their ends included, each counted for each store. Threads: any.
struct marker_metrics {
    counter written;  ///< a store has taken them
    counter failed;   ///< it has not: an error, no answer, or they were not sent after one that got none
};

/// Its families.
void write(exposition& out, const marker_metrics& metrics);

}  // namespace seriesgate
