/// Whether a store answers, as all workers see it together.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "core/synchronization.hpp"
#include "log/sparse_log.hpp"
#include "system/clock.hpp"
#include "upstream/upstream_error.hpp"

namespace seriesgate {

/// Tells when a line of the log is due about requests that got no answer, and about the end of that: once, and not once
/// a worker. Of an end is told only if its beginning was.
/// Threads: any. An answer while all is well costs one look at a flag.
class upstream_health {
  public:
    using clock = monotonic_clock;

    /// A time in which requests got no answer.
    struct outage {
        std::chrono::milliseconds lasted{};
        std::uint64_t requests = 0;  ///< that got none
    };

  private:
    struct outage_state {
        clock::time_point since;
        std::uint64_t requests = 0;
        bool told = false;
        std::array<sparse_log, static_cast<std::size_t>(upstream_error_reason::count_)> lines{};
    };

    std::atomic<bool> is_failing_{false};  // changed with `outage_` locked
    guarded<outage_state> outage_;

  public:
    /// A request got no answer.
    /// @return the requests for this reason since the last line about it, if one is due.
    std::optional<std::uint64_t> failed(upstream_error_reason reason, clock::time_point now = clock::now());

    /// Requests for this reason that nobody has been told of, if a line about them is due now.
    std::optional<std::uint64_t> rest(upstream_error_reason reason, clock::time_point now = clock::now());

    /// A request got one.
    /// @return the outage that it ends, if that is to be told of.
    std::optional<outage> answered(clock::time_point now = clock::now());
};

}  // namespace seriesgate
