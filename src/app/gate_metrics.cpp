#include "app/gate_metrics.hpp"

#include "log/log.hpp"
#include "metrics/exposition.hpp"

namespace seriesgate {

request_counts gate_metrics::counts() const noexcept {
    return {.requests = http.requests.total(),
            .rejected = http.rejected_4xx(),
            .upstream_errors = upstream.upstream_errors.total(),
            .samples_received = ingest.samples_received.value(),
            .samples_accepted = ingest.samples_accepted.value(),
            .samples_refused = ingest.samples_refused.value(),
            .samples_stored = ingest.samples_stored.value(),
            .samples_failed = ingest.samples_failed.value()};
}

void write(exposition& out, const gate_metrics& metrics) {
    write(out, metrics.http);
    write(out, metrics.ingest);
    write(out, metrics.upstream);
    write(out, metrics.reload);
    write(out, metrics.state);
    out.family("seriesgate_log_lines_lost_total", "Lines of the log that could not be written in time.",
               metric_type::counter);
    out.sample({}, log::lost_lines());
}

}  // namespace seriesgate
