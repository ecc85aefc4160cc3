/// What claims leave of a maximum for gates that cannot hear the shared store.
///
/// Each of sixteen gates has a share of a budget's window, which it may admit new series in without being answered. All
/// that is claimed stays below the rest: so what is claimed and all shares together are never more than the maximum,
/// whichever gates hear the store, and none of them has to know what the others have taken.
#pragma once

#include <cstdint>

namespace seriesgate {

/// Gates that have a share: the first so many of a day.
inline constexpr std::uint64_t shares_max = 16;

/// A part of a maximum, in ten-thousandths: exact in `shared.reserve`, in the script and here.
using reserve_parts = std::uint32_t;
inline constexpr reserve_parts reserve_whole = 10'000;
/// Half of each limit: all that is left must be able to hold something.
inline constexpr reserve_parts reserve_max = 5'000;

/// What one gate may admit in a window of a budget without an answer: a sixteenth of the reserve, rounded down.
/// claim.lua has the same.
/// @param maximum of series, below 2^53: 0 is none, and has no share either.
constexpr std::uint64_t share_of(std::uint64_t maximum, reserve_parts reserve) noexcept {
    constexpr std::uint64_t parts = shares_max * reserve_whole;
    return maximum / parts * reserve + maximum % parts * reserve / parts;
}

/// Where claims stop. A maximum whose share is nothing is claimed to the end.
constexpr std::uint64_t claimed_max(std::uint64_t maximum, reserve_parts reserve) noexcept {
    return maximum - shares_max * share_of(maximum, reserve);
}

}  // namespace seriesgate
