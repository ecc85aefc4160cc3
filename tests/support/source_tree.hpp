/// Where the source is that these tests are of.
#pragma once

#include <filesystem>

namespace seriesgate::testing {

/// The top of the source tree, absolute. Compiled into one file: what another tree has compiled then serves this one.
std::filesystem::path source_tree();

}  // namespace seriesgate::testing
