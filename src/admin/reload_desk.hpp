/// Where a reload of the configuration is asked for.
#pragma once

#include <string>
#include <variant>

#include "admin/desk.hpp"

namespace seriesgate {

/// What came of reading the configuration again.
struct reload_outcome {
    bool ok = false;
    std::string text;  ///< lines: what is wrong, or what was taken over
};

/// There is but one configuration to ask for.
using reload_desk = desk<std::monostate, reload_outcome>;

}  // namespace seriesgate
