/// What is counted about saving the limiter's state.
#pragma once

#include "metrics/counters.hpp"

namespace seriesgate {

class exposition;

/// Threads: any.
struct state_metrics {
    counter saves;  ///< snapshots written to state.dir
    counter save_failures;
    gauge bytes;         ///< of the last snapshot
    gauge save_seconds;  ///< since 1970: when it was written
};

/// Its families.
void write(exposition& out, const state_metrics& metrics);

}  // namespace seriesgate
