/// What is counted about the way to the store.
#pragma once

#include "metrics/counters.hpp"
#include "upstream/upstream_error.hpp"

namespace seriesgate {

class exposition;

/// Of each request that takes data to the store, either its answer is counted or the error in its place. Threads: any.
struct upstream_metrics {
    counter_by<upstream_error_reason> upstream_errors;
    counter_by_status upstream_responses;                      ///< the store's own answers to data
    alignas(64) duration_histogram upstream_request_duration;  ///< request sent to answer read; failures included
    counter upstream_sent_bytes;                               ///< request bodies sent upstream, compressed
};

/// Its families.
void write(exposition& out, const upstream_metrics& metrics);

}  // namespace seriesgate
