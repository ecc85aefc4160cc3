/// Which of a store's equal doors a request takes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "upstream/door_health.hpp"

namespace seriesgate {

/// A door as whoever chooses sees it.
struct door_view {
    door_standing standing = door_standing::well;
    bool has_trial = false;      ///< a request now would be that of the trial
    double share = 1;            ///< door_health::share
    std::int64_t in_flight = 0;  ///< requests of all workers
    bool has_room = true;        ///< for another connection of this worker
    bool tried = false;          ///< by this request
    door_health::clock::time_point due{};
};

/// First a trial that nobody has taken, if there is room for it; then, among those that are well, the one with the
/// fewest requests in flight, and equal ones in turn; then those that turn away; and if there are no others, the one
/// that is tried again soonest. Nobody is sent to a worse door because the better ones have no room: they wait. A door
/// that has just come back is no worse one.
/// @param turn counts the choices.
/// @return nothing if there is no room.
[[nodiscard]] std::optional<std::size_t> choose_door(std::span<const door_view> doors, std::uint64_t turn) noexcept;

}  // namespace seriesgate
