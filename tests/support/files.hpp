/// Files and folders for tests.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include "support/catch.hpp"

namespace seriesgate::testing {

/// A directory of this test's own, gone with it.
class scratch_directory {
    std::filesystem::path path_;

  public:
    scratch_directory() {
        std::string name = (std::filesystem::temp_directory_path() / "seriesgate-test-XXXXXX").string();
        REQUIRE(::mkdtemp(name.data()) != nullptr);
        path_ = name;
    }
    scratch_directory(const scratch_directory&) = delete;
    scratch_directory& operator=(const scratch_directory&) = delete;
    ~scratch_directory() { std::filesystem::remove_all(path_); }
    [[nodiscard]] std::filesystem::path operator/(const char* name) const { return path_ / name; }
};

inline std::string read_file(const std::filesystem::path& file) {
    std::ifstream in{file, std::ios::binary};
    return {std::istreambuf_iterator<char>{in}, {}};
}

inline void write_file(const std::filesystem::path& file, std::string_view text) {
    std::ofstream{file, std::ios::binary}.write(text.data(), static_cast<std::streamsize>(text.size()));
}

}  // namespace seriesgate::testing
