#pragma once

#include <cstdint>
#include <string_view>

#include "metrics/counters.hpp"
#include "upstream/upstream_metrics.hpp"

namespace seriesgate {

/// Why the gate itself answered a request with an error. The names are the values of the label `reason`.
enum class reject_reason : std::uint8_t {
    malformed,           ///< 400: does not decode
    too_large,           ///< 400: over a bound of `server:` or of the decoder
    unsupported_media,   ///< 415: content type or encoding
    method_not_allowed,  ///< 405
    unknown_path,        ///< 404: not an ingestion request, so neither in requests_total nor in requests_rejected_4xx()
    timeout,             ///< 503: not complete within readTimeout
    overloaded,          ///< 503: over maxInflightBytes
    refused,             ///< rejectStatus: a limit is spent, and its senders are to be told
    untranslated,        ///< 400: the rest is stored, but not what remote write 1 has no words for
    loop,                ///< 508: has been here before
    bad_argument,        ///< 400: of a question to the gate itself
    pages_held,          ///< 503: /stats or /metrics while too many answers are still being read
    count_
};
std::string_view name_of(reject_reason reason) noexcept;

/// The bound at which a connection was given up for another, or turned away.
enum class connection_bound : std::uint8_t {
    total,        ///< server.maxConnections
    per_peer,     ///< server.maxConnectionsPerPeer
    descriptors,  ///< the process has no descriptors left
    count_
};
std::string_view name_of(connection_bound bound) noexcept;

/// What was made of a request that was admitted, wholly or in part.
enum class forward_kind : std::uint8_t {
    unchanged,   ///< nothing refused: the sender's own bytes
    spliced,     ///< some refused: the kept ranges, compressed again
    translated,  ///< what was kept, from remote write 2 to 1
    none,        ///< all refused: the upstream was not contacted
    count_
};
std::string_view name_of(forward_kind kind) noexcept;

/// Every metric of the process but the windows' figures (they belong to the limiter) and process_* (process.hpp).
/// "Samples" are samples and native histograms together, as in /stats; histograms are also counted apart.
struct gate_metrics {
    counter_by_status requests;  ///< ingestion requests answered, by status code
    counter_by<reject_reason> requests_rejected;
    counter_by<forward_kind> requests_forwarded;
    counter unconfirmed_requests;     ///< of remote write 2: the upstream's 2xx did not say what was written
    counter untranslated_histograms;  ///< with custom buckets, which remote write 1 has not
    counter untranslated_series;      ///< entries that a store of remote write 1 would drop in silence
    counter query_arguments_dropped;  ///< of senders' queries, see upstream.forwardQuery
    counter requests_discarded;       ///< accepted and dropped because upstream.url is `discard:`
    upstream_metrics upstream;

    alignas(64) duration_histogram request_duration;  ///< first byte read to last byte written

    alignas(64) counter samples_received;
    counter samples_accepted;  ///< stored + failed + those that the upstream has yet to answer
    counter samples_refused;
    counter samples_stored;   ///< the upstream has confirmed them
    counter samples_failed;   ///< it has not: an error, no answer, or a success that does not say so
    counter unknown_dropped;  ///< stale markers and exemplar-only entries of unknown series, see DESIGN "What admits"
    counter histograms_received;
    counter exemplars_received;
    counter metadata_received;

    alignas(64) counter received_bytes;  ///< request bodies as sent, compressed
    counter decoded_bytes;               ///< the same, decompressed

    alignas(64) gauge inflight_requests;
    gauge inflight_bytes;  ///< what maxInflightBytes bounds
    gauge connections;     ///< open, from senders
    counter connections_accepted;
    counter_by<connection_bound> connections_given_up;     ///< closed to make room for others
    counter_by<connection_bound> connections_turned_away;  ///< no room was left for them

    counter reload_requests;       ///< SIGHUP and POST /-/reload
    counter reloads;               ///< times that the configuration was read for them
    gauge reload_successful;       ///< 1 unless the last reload failed
    gauge reload_success_seconds;  ///< since 1970: when the configuration was last taken over

    counter state_saves;  ///< snapshots written to state.dir
    counter state_save_failures;
    gauge state_bytes;         ///< of the last snapshot
    gauge state_save_seconds;  ///< since 1970: when it was written

    /// Ingestion requests answered, with any status: `requests.total` of /stats.
    std::uint64_t requests_answered() const noexcept { return requests.total(); }
    /// Ingestion requests that the gate itself answered with 4xx: `requests.rejected` of /stats.
    std::uint64_t requests_rejected_4xx() const noexcept;
    /// Requests that the gate answered with 502 or 504: `requests.upstreamErrors` of /stats.
    std::uint64_t upstream_errors_total() const noexcept { return upstream.upstream_errors.total(); }
};

}  // namespace seriesgate
