/// What is counted about the way to the store.
#pragma once

#include <cstdint>
#include <string_view>

#include "metrics/counters.hpp"

namespace seriesgate {

class exposition;

/// Why the upstream gave no answer that could be passed on.
enum class upstream_error_reason : std::uint8_t {
    unreachable,  ///< 502: name, connect
    timeout,      ///< 504: no full answer within upstream.timeout
    broken,       ///< 502: connected, but closed early or answered something that is not HTTP
    count_
};
/// The value of the label `reason`.
std::string_view name_of(upstream_error_reason reason) noexcept;

/// Threads: any.
struct upstream_metrics {
    counter_by<upstream_error_reason> upstream_errors;
    alignas(64) duration_histogram upstream_request_duration;  ///< request sent to answer read; failures included
    counter upstream_sent_bytes;                               ///< request bodies sent upstream, compressed
    gauge upstream_connections;                                ///< open, pooled ones included
};

/// Its families.
void write(exposition& out, const upstream_metrics& metrics);

}  // namespace seriesgate
