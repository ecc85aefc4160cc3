#include "app/state_metrics.hpp"

#include "metrics/exposition.hpp"

namespace seriesgate {

void write(exposition& out, const state_metrics& metrics) {
    write_counter(out, "seriesgate_state_saves_total", "Snapshots written to state.dir.", metrics.saves);
    write_counter(out, "seriesgate_state_save_failures_total", "Snapshots that could not be written to state.dir.",
                  metrics.save_failures);
    write_gauge(out, "seriesgate_state_bytes", "Size of the last snapshot in state.dir.", metrics.bytes);
    write_gauge(out, "seriesgate_state_save_timestamp_seconds", "When the last snapshot was written, since 1970.",
                metrics.save_seconds);
}

}  // namespace seriesgate
