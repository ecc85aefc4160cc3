/// Files that hold what must not change by accident: tests/golden.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>

#include "support/files.hpp"
#include "support/source_tree.hpp"

namespace seriesgate::testing {

inline std::filesystem::path golden_path(std::string_view name) {
    return source_tree() / "tests/golden" / name;
}

/// Checks that a golden file has this content. With SERIESGATE_WRITE_GOLDEN=1 in the environment it is written.
inline void check_golden(std::string_view name, const std::string& content) {
    const auto path = golden_path(name);
    if (std::getenv("SERIESGATE_WRITE_GOLDEN") != nullptr) write_file(path, content);
    INFO(path.string() << " is not what this code makes: see tests/golden/README.md");
    CHECK((content == read_file(path)));  // in parentheses: nobody wants to read 100 KiB
}

}  // namespace seriesgate::testing
