/// From the start to the moment when the gate is ready.
#pragma once

#include <functional>
#include <string>

#include "app/place.hpp"
#include "app/serving.hpp"
#include "net/asio.hpp"

namespace seriesgate {

class fleet_shared;

/// What happens on the way, on the front desk's thread.
struct opening {
    starting_place& place;
    const worker_threads& workers;
    const fleet_shared* fleet;  ///< none: the gate counts alone
    process_life& life;
    std::function<void()> serves;             ///< connections may be accepted from now on; nobody else does any more
    std::function<void()> ready;              ///< the same moment as /-/ready answers 200
    std::function<void(std::string)> failed;  ///< the gate of before goes on: why
};

/// Serves at once, but where connections may wait without being refused: there they wait until the gate is ready, for
/// at most a second or, in place of a gate that runs, for as long as that has patience. Spawn it once.
net::awaitable<void> open(opening steps);

}  // namespace seriesgate
