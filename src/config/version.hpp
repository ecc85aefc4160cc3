/// What this build is.
#pragma once

#include <string_view>

namespace seriesgate {

/// The version of this build: the compile definition SERIESGATE_VERSION of the config library, or "dev" without it.
std::string_view version() noexcept;

/// The revision of the source that it was made from, if the build was told (SERIESGATE_REVISION of CMake), else empty.
std::string_view revision() noexcept;

/// What compiled it: `gcc 12.2.0`.
std::string_view compiler() noexcept;

}  // namespace seriesgate
