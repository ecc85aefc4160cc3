/// What is counted about remote write requests: what they hold and what becomes of it.
#pragma once

#include "ingest/limit_counters.hpp"
#include "metrics/counters.hpp"
#include "plan/forwarding.hpp"
#include "wire/wire_error.hpp"

namespace seriesgate {

class exposition;

/// "Samples" are samples and native histograms together, as in /stats; histograms are also counted apart.
/// Threads: any.
struct ingest_metrics {
    counter_by<forwarding> requests_forwarded;  ///< what was made of requests that decode
    counter unconfirmed_requests;               ///< of remote write 2: the upstream's 2xx did not say what was written
    counter partly_written_requests;            ///< of remote write 2: the upstream's 2xx said less than was sent
    counter untranslated_histograms;            ///< with custom buckets, which remote write 1 has not
    counter untranslated_series;                ///< entries that a store of remote write 1 would drop in silence
    counter_by<series_fault> series_left_out;   ///< entries that break a rule
    counter query_arguments_dropped;            ///< of senders' queries, see upstream.forwardQuery
    counter requests_discarded;                 ///< accepted and dropped because upstream.url is `discard:`

    alignas(64) counter samples_received;
    counter samples_left_out;  ///< of entries that break a rule
    counter samples_accepted;  ///< stored + failed + those that the upstream has yet to answer
    counter samples_refused;
    counter samples_refused_by_limits;  ///< of these, all but stale markers of unknown series; a counter of its own,
                                        ///< because the difference of two does not look like one to rate()
    counter samples_stored;             ///< the upstream has confirmed them
    counter samples_failed;             ///< it has not: an error, no answer, or a success that does not say so
    counter unknown_dropped;            ///< stale markers and exemplar-only entries of unknown series
    counter histograms_received;
    counter exemplars_received;
    counter metadata_received;

    limit_counters limit_samples_refused;   ///< adds up to samples_refused, until it forgets idle pairs
    limit_counters limit_samples_observed;  ///< accepted, by limits without room that only observe

    alignas(64) counter received_bytes;  ///< request bodies as sent, compressed
    counter decoded_bytes;               ///< the same, decompressed
};

/// Its families.
void write(exposition& out, const ingest_metrics& metrics);

}  // namespace seriesgate
