/// That connections are closed for others, in the log.
#pragma once

#include <cstdint>

#include "http/http_metrics.hpp"
#include "log/sparse_log.hpp"

namespace seriesgate {

/// Knows how many the log has been told of. Threads: one, the front desk's.
class closings_log {
    std::uint64_t told_ = 0;
    sparse_log lines_{};

  public:
    /// Says what is new, now and then: call it after what may have closed some, and every now and then.
    void tell(const http_metrics& metrics);
};

}  // namespace seriesgate
