/// The configuration that a gate starts with.
#pragma once

#include "config/command_line.hpp"
#include "config/load.hpp"

namespace seriesgate {

/// The configuration, and what is wrong with the files that it names: all that keeps a gate from serving, but for what
/// the operating system refuses it. A reload reads the configuration alone. Threads: any.
[[nodiscard]] load_outcome read_settings(const command_line& asked);

}  // namespace seriesgate
