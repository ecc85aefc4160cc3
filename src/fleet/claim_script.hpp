/// The scripts that decide claims, and say who tells later: claim.lua and telling.lua, as CMake has put them into the
/// program.
#pragma once

#include <string_view>

namespace seriesgate {

/// For EVAL.
extern const std::string_view claim_script;
/// For EVALSHA: the SHA-1 of claim_script, in hexadecimal.
extern const std::string_view claim_script_digest;

/// Of the list of gates that accept incumbents at once, see telling_text.hpp.
extern const std::string_view telling_script;

}  // namespace seriesgate
