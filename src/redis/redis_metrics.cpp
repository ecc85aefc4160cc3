#include "redis/redis_metrics.hpp"

#include "metrics/exposition.hpp"

namespace seriesgate {

void write(exposition& out, const redis_metrics& metrics) {
    write_counter(out, "seriesgate_shared_connections_total", "Connections to the shared store that were made.",
                  metrics.connections);
    write_counter(out, "seriesgate_shared_connect_failures_total",
                  "Attempts to connect to the shared store that came to nothing.", metrics.connect_failures);
    write_counter(out, "seriesgate_shared_late_replies_total",
                  "Replies of the shared store to commands that had been given up.", metrics.late_replies);
}

}  // namespace seriesgate
