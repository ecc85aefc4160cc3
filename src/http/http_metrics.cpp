#include "http/http_metrics.hpp"

#include <array>

namespace seriesgate {
namespace {

/// An alert counts 401 and 403.
constexpr std::array usual_codes{204u, 400u, 401u, 403u, 429u, 503u};

}  // namespace

std::string_view name_of(connection_wait wait) noexcept {
    return name_among({"request", "reading", "ending"}, wait);
}

std::string_view name_of(reject_reason reason) noexcept {
    return name_among({"malformed", "invalid_http", "too_large", "unsupported_media", "method_not_allowed",
                       "unknown_path", "timeout", "overloaded", "queue_delay", "refused", "untranslated", "left_out",
                       "loop", "bad_argument", "pages_held", "unauthenticated", "forbidden", "passwords_held"},
                      reason);
}

std::string_view name_of(connection_bound bound) noexcept {
    return name_among({"max_connections", "max_connections_per_peer", "descriptors", "max_handshakes"}, bound);
}

std::string_view name_of(handshake_outcome outcome) noexcept {
    return name_among({"completed", "timeout", "given_up", "closed", "plain_http", "certificate", "failed"}, outcome);
}

std::string_view name_of(proxy_header_outcome outcome) noexcept {
    return name_among({"completed", "timeout", "given_up", "closed", "malformed", "untrusted"}, outcome);
}

void write(exposition& out, const http_metrics& metrics) {
    write_status_counters(out, "seriesgate_requests_total", "Remote write requests answered, by HTTP status code.",
                          metrics.requests, usual_codes);
    write_counters(out, "seriesgate_requests_rejected_total",
                   "Requests that the gate itself answered with an error, by reason.", "reason",
                   metrics.requests_rejected);
    write_counter(
        out, "seriesgate_requests_abandoned_total",
        "Remote write requests not worked on, since their senders had closed the connection while they waited.",
        metrics.requests_abandoned);
    write_histogram(out, "seriesgate_queue_delay_seconds",
                    "How long what comes waits for its worker, probed ten times a second.", metrics.queue_delay);
    write_histogram(out, "seriesgate_request_duration_seconds",
                    "Time from the first byte of a remote write request to the last byte of the answer.",
                    metrics.request_duration);
    write_gauge(out, "seriesgate_inflight_requests", "Requests being served, this one included.",
                metrics.inflight_requests);
    write_gauge(out, "seriesgate_inflight_bytes", "Bytes held for requests being served, see server.maxInflightBytes.",
                metrics.inflight_bytes);
    write_gauge(out, "seriesgate_connections", "Open connections from senders.", metrics.connections);
    write_counter(out, "seriesgate_connections_accepted_total", "Connections accepted from senders.",
                  metrics.connections_accepted);
    write_counters(out, "seriesgate_connections_given_up_total",
                   "Connections from senders closed to make room for others, by the bound that was reached.", "reason",
                   metrics.connections_given_up);
    write_counters(out, "seriesgate_connections_turned_away_total",
                   "Connections from senders for which no room could be made, by the bound that was reached.", "reason",
                   metrics.connections_turned_away);
    write_counters(out, "seriesgate_connections_timed_out_total",
                   "Connections from senders closed because they took too long, by what was waited for.", "waiting_for",
                   metrics.connections_timed_out);
    write_counters(out, "seriesgate_proxy_headers_total",
                   "Connections that had to begin with a PROXY protocol header, or must not, by what came of it.",
                   "outcome", metrics.proxy_headers);
    write_gauge(out, "seriesgate_tls_handshakes_running", "TLS handshakes with senders that have not come to an end.",
                metrics.handshakes_running);
    write_counters(out, "seriesgate_tls_handshakes_total", "TLS handshakes with senders, by what came of them.",
                   "outcome", metrics.handshakes);
    write_histogram(out, "seriesgate_tls_handshake_duration_seconds",
                    "Time from a connection's arrival to the end of its TLS handshake, of those that were completed.",
                    metrics.handshake_duration);
    write_gauge(out, "seriesgate_tls_certificate_not_after_timestamp_seconds",
                "When the certificate that senders are shown ends, in Unix time; 0 without TLS.",
                metrics.certificate_not_after);
}

}  // namespace seriesgate
