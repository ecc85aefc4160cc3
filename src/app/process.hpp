/// Wires everything together and runs until it is told to stop.
#pragma once

#include <functional>
#include <string_view>

#include "config/load.hpp"

namespace seriesgate {

struct start {
    std::string_view config_file;  ///< where the settings are from; empty: from flags alone
    bool takes_over = false;       ///< the place of a gate that runs, if there is one
};

/// Serves until SIGTERM or SIGINT, then drains, or until another process has its place. Throws std::runtime_error with
/// one readable line if it cannot start.
/// @param read_again reads the configuration anew, for a reload.
void run(const config& settings, const start& how, std::function<load_outcome()> read_again);

}  // namespace seriesgate
