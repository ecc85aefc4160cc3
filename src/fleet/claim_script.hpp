/// The script that decides claims: claim.lua, as CMake has put it into the program.
#pragma once

#include <string_view>

namespace seriesgate {

/// For EVAL.
extern const std::string_view claim_script;
/// For EVALSHA: the SHA-1 of claim_script, in hexadecimal.
extern const std::string_view claim_script_digest;

}  // namespace seriesgate
