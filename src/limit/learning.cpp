#include "limit/learning.hpp"

#include <algorithm>
#include <cassert>
#include <cstddef>

#include "limit/ledger.hpp"
#include "limit/limiter.hpp"
#include "limit/limiter_state.hpp"
#include "limit/windows.hpp"

namespace seriesgate {
namespace {

/// Work under one hold of the lock: some tens of microseconds.
constexpr std::size_t series_per_piece = 512;

enum class piece_end : std::uint8_t { finished, sets_full, other_hour };

/// @param next the first that is not known yet; gets the first that is not by then.
piece_end learn_piece(limiter_state& state, const window_span& hour, std::span<const std::uint64_t> fingerprints,
                      std::size_t& next) {
    const auto held = state.counts.lock();
    if (state.sets.read()->hour_span != hour) return piece_end::other_hour;
    const std::size_t end = std::min(fingerprints.size(), next + series_per_piece);
    for (; next < end; ++next) {
        const std::uint64_t series = fingerprints[next];
        const in_windows lacking{.hour = !held->hour->contains(series), .day = !held->day->contains(series)};
        if (!lacking.any()) continue;
        if (!held->have_room(1, 1)) return piece_end::sets_full;
        held->remember(series, lacking);
    }
    return piece_end::finished;
}

}  // namespace

bool learn(series_limiter& limiter, const window_span& hour, std::span<const std::uint64_t> fingerprints) {
    limiter_state& state = limiter.state();
    assert(state.is_shared());
    for (std::size_t next = 0; next < fingerprints.size();) {
        switch (learn_piece(state, hour, fingerprints, next)) {
            case piece_end::finished:
                break;
            case piece_end::sets_full:
                limiter.time().make_room();
                break;
            case piece_end::other_hour:
                return false;
        }
    }
    return true;
}

}  // namespace seriesgate
