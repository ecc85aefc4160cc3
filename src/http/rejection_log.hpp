/// Who is turned away, and why, in the log.
#pragma once

#include <array>
#include <string_view>

#include "http/reply.hpp"
#include "http/sparse_log.hpp"
#include "metrics/metrics.hpp"
#include "net/timed_stream.hpp"

namespace seriesgate {

/// At most one line in ten seconds for each reason: how many, and one of them as an example. Threads: any.
class rejection_log {
    std::array<sparse_log, counter_by<reject_reason>::size> logs_{};

  public:
    /// Does nothing for an answer that turns nobody away.
    /// @param tenant as the sender named it; may be empty.
    void tell(const reply& answer, const timed_stream& peer, std::string_view tenant);
};

}  // namespace seriesgate
