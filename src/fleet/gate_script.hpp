/// The script that hears gates and lets them read the feed, as CMake has put it into the program. For EVAL.
#pragma once

#include <string_view>

namespace seriesgate {

extern const std::string_view gate_script;  ///< store_gate.lua describes its words

}  // namespace seriesgate
