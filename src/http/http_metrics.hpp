/// What is counted about connections and requests, whoever answers them.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/metrics.hpp"

namespace seriesgate {

class exposition;

/// Why the gate itself answered a request with an error.
enum class reject_reason : std::uint8_t {
    malformed,           ///< 400: the body does not decode
    invalid_http,        ///< 400, 431: the HTTP around it cannot be read; it may be no sender at all
    too_large,           ///< 400: over a bound of `server:` or of the decoder
    unsupported_media,   ///< 415: content type or encoding
    method_not_allowed,  ///< 405
    unknown_path,        ///< 404: not an ingestion request, so neither in `requests` nor in `rejected_4xx`
    timeout,             ///< 503: not complete within headerTimeout or readTimeout
    overloaded,          ///< 503: over maxInflightBytes
    queue_delay,         ///< 503: requests wait for longer than maxQueueDelay before they are worked on
    refused,             ///< rejectStatus: a limit is spent, and its senders are to be told
    untranslated,        ///< 400: the rest is stored, but not what remote write 1 has no words for
    left_out,            ///< 400: the rest is stored, but not series that break a rule
    loop,                ///< 508: has been here before
    bad_argument,        ///< 400: of a question to the gate itself
    pages_held,          ///< 503: a page while too many others are being made or read
    unauthenticated,     ///< 401: no user and password, or token, that the gate knows
    forbidden,           ///< 403: not this user, not for this tenant, or sent by a page of another site
    passwords_held,      ///< 503: a password while too many others wait to be checked
    count_
};
/// The value of the label `reason`.
std::string_view name_of(reject_reason reason) noexcept;

/// The bound at which a connection was given up for another, or turned away.
enum class connection_bound : std::uint8_t {
    total,        ///< server.maxConnections
    per_peer,     ///< server.maxConnectionsPerPeer
    descriptors,  ///< the process has no descriptors left
    handshakes,   ///< server.maxHandshakes
    count_
};
/// The value of the label `reason`.
std::string_view name_of(connection_bound bound) noexcept;

/// What came of a TLS handshake with a sender.
enum class handshake_outcome : std::uint8_t {
    completed,
    timeout,      ///< not complete within server.handshakeTimeout
    given_up,     ///< closed to make room for others
    closed,       ///< by the peer
    plain_http,   ///< a request without TLS
    certificate,  ///< the client's is missing, not verified or not allowed; or it does not take ours
    failed,       ///< any other way: no TLS, no common version, cipher suite, …
    count_
};
/// The value of the label `outcome`.
std::string_view name_of(handshake_outcome outcome) noexcept;
/// What a connection was closed for waiting for too long for.
enum class connection_wait : std::uint8_t {
    request,  ///< its next one: server.idleTimeout
    reading,  ///< that the sender reads its answer: server.writeTimeout
    ending,   ///< that the sender stops sending, after an answer that was its last
    count_
};
/// The value of the label `waiting_for`.
std::string_view name_of(connection_wait wait) noexcept;

/// Threads: any.
struct http_metrics {
    counter_by_status requests;  ///< ingestion requests answered, by status code
    counter rejected_4xx;        ///< of these, those that the gate itself answered with 4xx
    counter_by<reject_reason> requests_rejected;
    counter requests_abandoned;  ///< not worked on, their senders had gone while they waited

    alignas(64) duration_histogram request_duration;  ///< of ingestion: first byte read to last byte written

    alignas(64) duration_histogram queue_delay;  ///< what comes waits so long for its worker

    alignas(64) gauge inflight_requests;
    gauge inflight_bytes;  ///< what maxInflightBytes bounds
    gauge connections;     ///< open, from senders
    counter connections_accepted;
    counter_by<connection_bound> connections_given_up;     ///< closed to make room for others
    counter_by<connection_bound> connections_turned_away;  ///< no room was left for them
    counter_by<connection_wait> connections_timed_out;

    alignas(64) gauge handshakes_running;
    counter_by<handshake_outcome> handshakes;
    duration_histogram handshake_duration;  ///< of those that were completed
    gauge certificate_not_after;            ///< seconds of Unix time; 0: the listeners speak no TLS
};

/// Its families.
void write(exposition& out, const http_metrics& metrics);

}  // namespace seriesgate
