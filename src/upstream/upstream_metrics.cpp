#include "upstream/upstream_metrics.hpp"

#include <array>
#include <cassert>
#include <cstddef>

#include "metrics/exposition.hpp"

namespace seriesgate {
namespace {

constexpr std::array<std::string_view, counter_by<upstream_error_reason>::size> reason_names{"unreachable", "timeout",
                                                                                             "broken"};

}  // namespace

std::string_view name_of(upstream_error_reason reason) noexcept {
    assert(reason < upstream_error_reason::count_);
    return reason_names[static_cast<std::size_t>(reason)];
}

void write(exposition& out, const upstream_metrics& metrics) {
    write_counters(out, "seriesgate_upstream_errors_total",
                   "Requests to the upstream that got no answer that could be passed on, by reason.", "reason",
                   metrics.upstream_errors);
    write_histogram(out, "seriesgate_upstream_request_duration_seconds",
                    "Time from sending a request upstream to having read the answer, failures included.",
                    metrics.upstream_request_duration);
    write_counter(out, "seriesgate_upstream_sent_bytes_total", "Bytes of request bodies sent upstream, compressed.",
                  metrics.upstream_sent_bytes);
    write_gauge(out, "seriesgate_upstream_connections", "Open connections to the upstream, idle ones included.",
                metrics.upstream_connections);
}

}  // namespace seriesgate
