#include "config/version.hpp"

#ifndef SERIESGATE_VERSION
#define SERIESGATE_VERSION "dev"
#endif

namespace seriesgate {

std::string_view version() noexcept {
    return SERIESGATE_VERSION;
}

}  // namespace seriesgate
