/// What this build is. cmake/source_version.cmake finds it out at each build.
#pragma once

#include <string_view>

namespace seriesgate {

/// The version of the source: `0.1.0` is the tag v0.1.0, `0.1.0+12.g0123456789ab` twelve commits later.
std::string_view version() noexcept;

/// The commit that it was made from, if that is known, else empty.
std::string_view revision() noexcept;

/// What compiled it: `gcc 12.2.0`.
std::string_view compiler() noexcept;

}  // namespace seriesgate
