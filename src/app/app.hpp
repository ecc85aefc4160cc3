/// Wires everything together and runs until it is told to stop.
#pragma once

#include <functional>
#include <string_view>

#include "config/load.hpp"

namespace seriesgate {

/// Serves until SIGTERM or SIGINT, then drains. Throws std::runtime_error with one readable line if it cannot start.
/// @param config_file where the settings are from; empty: from flags alone.
/// @param read_again reads the configuration anew, for a reload.
void run(const config& settings, std::string_view config_file, std::function<load_outcome()> read_again);

}  // namespace seriesgate
