/// The script that keeps the list of gates that accept incumbents at once: telling.lua, as CMake has put it into the
/// program.
#pragma once

#include <string_view>

namespace seriesgate {

/// For EVAL; see telling_text.hpp.
extern const std::string_view telling_script;

}  // namespace seriesgate
