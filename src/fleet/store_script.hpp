/// The script that counts claims and passes, as CMake has put it into the program. For EVAL.
#pragma once

#include <string_view>

namespace seriesgate {

extern const std::string_view store_script;  ///< store_windows.lua describes its words

}  // namespace seriesgate
