/// Chooses the backend of a request.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "upstream/circuit_breaker.hpp"

namespace seriesgate {

/// What the choice depends on.
struct backend_view {
    backend_state state = backend_state::healthy;
    bool has_trial = false;      ///< a request now would be that of the trial
    double share = 1;            ///< circuit_breaker::share
    std::int64_t in_flight = 0;  ///< requests of all workers
    bool has_room = true;        ///< for another connection of this worker
    bool tried = false;          ///< by this request
    circuit_breaker::clock::time_point due{};
};

/// Least requests in flight among the healthy backends; equal ones take turns. A half-open backend without a trial
/// request comes first, if it has room. Overloaded backends come after the healthy ones. If all are ejected, the one
/// that is due soonest. A request waits for a better backend rather than take a worse one; a recovering backend is no
/// worse one.
/// @param turn counts the choices.
/// @return nothing if there is no room.
[[nodiscard]] std::optional<std::size_t> choose_backend(std::span<const backend_view> backends,
                                                        std::uint64_t turn) noexcept;

}  // namespace seriesgate
