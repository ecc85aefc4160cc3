#pragma once

#include <string_view>

namespace seriesgate {

/// The version of this build: the compile definition SERIESGATE_VERSION of the config library, or "dev" without it.
std::string_view version() noexcept;

}  // namespace seriesgate
