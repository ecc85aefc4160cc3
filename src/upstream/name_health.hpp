/// Whether a name resolves, as all workers see it.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "core/synchronization.hpp"
#include "log/sparse_log.hpp"
#include "net/asio.hpp"
#include "system/clock.hpp"

namespace seriesgate {

/// Tells when a line of the log is due about a name that does not resolve: once, and not once a worker. Of an end is
/// told only if its beginning was. Threads: any.
class name_health {
  public:
    using clock = monotonic_clock;

    /// What there is to say of a lookup.
    struct news {
        bool resolves = false;
        std::chrono::milliseconds lasted{};  ///< since it did not
    };

    /// Lookups are tried every second.
    static constexpr auto interval = std::chrono::minutes{1};

  private:
    struct state {
        std::string fault;  // empty while it resolves
        clock::time_point since;
        bool told = false;
        sparse_log line{interval};
    };
    guarded<state> state_;

  public:
    /// The name has been looked up.
    /// @return what there is to say of it, if anything.
    std::optional<news> looked_up(error_code error, clock::time_point now = clock::now());

    /// Why the name does not resolve; empty if it does, or nobody knows yet.
    std::string fault();
};

}  // namespace seriesgate
