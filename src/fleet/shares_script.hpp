/// The script that gives gates their shares: shares.lua, as CMake has put it into the program.
#pragma once

#include <string_view>

namespace seriesgate {

/// For EVAL; see share_text.hpp.
extern const std::string_view shares_script;

}  // namespace seriesgate
