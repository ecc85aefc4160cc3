#include "config/version.hpp"

#ifndef SERIESGATE_VERSION
#define SERIESGATE_VERSION "dev"
#endif
#ifndef SERIESGATE_REVISION
#define SERIESGATE_REVISION ""
#endif
#ifdef __clang__
#define SERIESGATE_COMPILER "clang " __clang_version__
#else
#define SERIESGATE_COMPILER "gcc " __VERSION__
#endif

namespace seriesgate {

std::string_view version() noexcept {
    return SERIESGATE_VERSION;
}

std::string_view revision() noexcept {
    return SERIESGATE_REVISION;
}

std::string_view compiler() noexcept {
    return SERIESGATE_COMPILER;
}

}  // namespace seriesgate
