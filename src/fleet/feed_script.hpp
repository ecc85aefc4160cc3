/// The script that reads what gates have taken: feed.lua, as CMake has put it into the program.
#pragma once

#include <string_view>

namespace seriesgate {

/// For EVAL; see feed_text.hpp.
extern const std::string_view feed_script;

}  // namespace seriesgate
