#include "support/source_tree.hpp"

namespace seriesgate::testing {

std::filesystem::path source_tree() {
    return SERIESGATE_SOURCE_DIR;
}

}  // namespace seriesgate::testing
