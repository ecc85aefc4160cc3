/// The script that makes lost counts whole again: recover.lua, as CMake has put it into the program.
#pragma once

#include <string_view>

namespace seriesgate {

/// For EVAL.
extern const std::string_view recover_script;

}  // namespace seriesgate
