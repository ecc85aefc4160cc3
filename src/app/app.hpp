/// Wires everything together and runs until it is told to stop.
#pragma once

#include "config/config.hpp"

namespace seriesgate {

/// Serves until SIGTERM or SIGINT, then drains. Throws std::runtime_error with one readable line if it cannot start.
void run(const config& settings);

}  // namespace seriesgate
