/// Metrics of connections, requests and TLS handshakes.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/metrics.hpp"

namespace seriesgate {

/// Why the gate itself answered with an error.
enum class reject_reason : std::uint8_t {
    malformed,           ///< 400: the body does not decode
    invalid_http,        ///< 400, 431: unreadable HTTP; perhaps not from a sender
    too_large,           ///< 400: over a bound of `server:` or of the decoder
    unsupported_media,   ///< 415: content type or encoding
    method_not_allowed,  ///< 405
    unknown_path,        ///< 404: no ingestion request, so neither in `requests` nor in `rejected_4xx`
    timeout,             ///< 503: not complete within headerTimeout or readTimeout
    overloaded,          ///< 503: over maxInflightBytes
    queue_delay,         ///< 503: requests wait longer than maxQueueDelay for their worker
    refused,             ///< rejectStatus: a limit is exceeded, and configured to be reported to senders
    untranslated,        ///< 400: stored, except for data that remote write 1 cannot express
    left_out,            ///< 400: stored, except for series that break a rule
    loop,                ///< 508: the request has passed this gate before
    bad_argument,        ///< 400: in a query to the gate itself
    pages_held,          ///< 503: too many pages are being made or read
    unauthenticated,     ///< 401: no known user and password, or token
    forbidden,           ///< 403: this user or tenant may not, or a page of another site sent it
    passwords_held,      ///< 503: too many passwords wait for their check
    count_
};
std::string_view name_of(reject_reason reason) noexcept;

/// The bound at which a connection was closed or turned away.
enum class connection_bound : std::uint8_t {
    total,        ///< server.maxConnections
    per_peer,     ///< server.maxConnectionsPerPeer
    descriptors,  ///< the process is out of descriptors
    handshakes,   ///< server.maxHandshakes
    count_
};
std::string_view name_of(connection_bound bound) noexcept;

enum class handshake_outcome : std::uint8_t {
    completed,
    timeout,      ///< not complete within server.handshakeTimeout
    given_up,     ///< closed to make room for others
    closed,       ///< by the peer
    plain_http,   ///< a request without TLS
    certificate,  ///< missing, unverified or forbidden client certificate; or the client rejects the gate's
    failed,       ///< anything else: no TLS, no common version or cipher suite, …
    count_
};
std::string_view name_of(handshake_outcome outcome) noexcept;

/// What became of a connection that had to begin with a PROXY header, or must not.
enum class proxy_header_outcome : std::uint8_t {
    completed,
    timeout,    ///< not complete within server.handshakeTimeout
    given_up,   ///< closed to make room for others
    closed,     ///< by the peer
    malformed,  ///< or no header at all
    untrusted,  ///< a header from a peer outside of server.trustedProxies; only with TLS, else HTTP rejects it
    count_
};
std::string_view name_of(proxy_header_outcome outcome) noexcept;

/// Why a connection timed out: the sender was too slow with this.
enum class connection_wait : std::uint8_t {
    request,  ///< the next request: server.idleTimeout
    reading,  ///< reading the answer: server.writeTimeout
    ending,   ///< ending its data after the last answer
    count_
};
std::string_view name_of(connection_wait wait) noexcept;

/// Threads: any.
struct http_metrics {
    counter_by_status requests;  ///< answered ingestion requests, by status
    counter rejected_4xx;        ///< answered by the gate itself with 4xx, of `requests`
    counter_by<reject_reason> requests_rejected;
    counter requests_abandoned;  ///< the sender closed before the request was processed

    alignas(64) duration_histogram request_duration;  ///< ingestion, first byte read to last byte written

    alignas(64) duration_histogram queue_delay;  ///< waiting time for a worker

    alignas(64) gauge inflight_requests;
    gauge inflight_bytes;  ///< bounded by maxInflightBytes
    gauge connections;     ///< open sender connections
    counter connections_accepted;
    counter_by<connection_bound> connections_given_up;     ///< closed to make room for others
    counter_by<connection_bound> connections_turned_away;  ///< no room
    counter_by<connection_wait> connections_timed_out;
    counter_by<proxy_header_outcome> proxy_headers;

    alignas(64) gauge handshakes_running;
    counter_by<handshake_outcome> handshakes;
    duration_histogram handshake_duration;  ///< completed handshakes only
    gauge certificate_not_after;            ///< Unix time in seconds; 0: no TLS
};

void write(exposition& out, const http_metrics& metrics);

}  // namespace seriesgate
