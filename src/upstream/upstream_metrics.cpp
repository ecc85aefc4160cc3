#include "upstream/upstream_metrics.hpp"

#include <array>

#include "metrics/exposition.hpp"

namespace seriesgate {
namespace {

/// What stores and proxies answer with. All that means lost data is among them: what begins at its first burst is no
/// increase to an alert.
constexpr std::array usual_codes{200u, 202u, 204u, 300u, 301u, 302u, 303u, 304u, 305u, 307u, 308u, 400u,
                                 401u, 402u, 403u, 404u, 405u, 406u, 407u, 408u, 409u, 410u, 411u, 412u,
                                 413u, 414u, 415u, 416u, 417u, 418u, 421u, 422u, 423u, 424u, 425u, 426u,
                                 428u, 429u, 431u, 451u, 499u, 500u, 501u, 502u, 503u, 504u, 507u, 508u};

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
}

}  // namespace seriesgate
