/// What the log says of a configuration that is allowed and surely not meant.
#pragma once

#include "config/load.hpp"

namespace seriesgate {

/// One line for each warning; of very many the first.
void log_warnings(const load_outcome& loaded);

}  // namespace seriesgate
