#include "upstream/upstream_metrics.hpp"

#include <array>

#include "metrics/exposition.hpp"

namespace seriesgate {
namespace {

/// What stores answer with.
constexpr std::array usual_codes{200u, 204u, 400u, 401u, 403u, 404u, 409u, 413u, 415u, 429u, 500u, 502u, 503u, 504u};

}  // namespace

void write(exposition& out, const upstream_metrics& metrics) {
    write_counters(out, "seriesgate_upstream_errors_total",
                   "Requests to the upstream that got no answer that could be passed on, by reason.", "reason",
                   metrics.upstream_errors);
    write_status_counters(out, "seriesgate_upstream_responses_total",
                          "Answers of the upstream to data, by HTTP status code.", metrics.upstream_responses,
                          usual_codes);
    write_histogram(out, "seriesgate_upstream_request_duration_seconds",
                    "Time from sending a request upstream to having read the answer, failures included.",
                    metrics.upstream_request_duration);
    write_counter(out, "seriesgate_upstream_sent_bytes_total", "Bytes of request bodies sent upstream, compressed.",
                  metrics.upstream_sent_bytes);
    write_gauge(out, "seriesgate_upstream_connections", "Open connections to the upstream, idle ones included.",
                metrics.upstream_connections);
}

}  // namespace seriesgate
