#include "ingest/marker_metrics.hpp"

#include "metrics/exposition.hpp"

namespace seriesgate {

void write(exposition& out, const marker_metrics& metrics) {
    write_counter(
        out, "seriesgate_markers_written_total",
        "Samples of markers that a store has taken, ends of markers included, see marker in the configuration.",
        metrics.written);
    write_counter(out, "seriesgate_markers_failed_total",
                  "Samples of markers that a store has not taken: it answered with an error, or not at all.",
                  metrics.failed);
}

}  // namespace seriesgate
