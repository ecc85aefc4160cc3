/// Snapshots in memory.
#pragma once

#include "core/state_stream.hpp"
#include "limit/limiter.hpp"
#include "support/catch.hpp"

namespace seriesgate::testing {

/// @return nothing if it could not be saved.
inline std::string saved(series_limiter& limiter) {
    std::string bytes;
    text_sink sink{bytes};
    return save_snapshot(limiter, sink) ? bytes : std::string{};
}

inline bool restored(series_limiter& limiter, std::string_view bytes, time_point now) {
    text_source source{bytes};
    return restore_snapshot(limiter, source, now);
}

/// A gate that has begun with what another saved.
template <class Gate>
struct restarted : Gate {
    restarted(const limit_rules& rules, std::string_view bytes, time_point now, auto... more)
        : Gate{rules, now, more...} {
        REQUIRE(restored(this->limiter, bytes, now));
    }
};

}  // namespace seriesgate::testing
