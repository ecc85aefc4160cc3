#include "state/secret_file.hpp"

#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

#include "series/hash_key.hpp"
#include "support/catch.hpp"

using namespace seriesgate;

namespace {

/// A directory of this test's own, gone with it.
class scratch {
    std::filesystem::path path_;

  public:
    scratch() {
        std::string name = (std::filesystem::temp_directory_path() / "seriesgate-test-XXXXXX").string();
        REQUIRE(::mkdtemp(name.data()) != nullptr);
        path_ = name;
    }
    ~scratch() { std::filesystem::remove_all(path_); }
    [[nodiscard]] std::string operator/(const char* name) const { return (path_ / name).string(); }
};

void write_file(const std::string& path, const std::string& text) {
    std::ofstream{path, std::ios::binary} << text;
}

std::string error_of(const std::string& path) {
    try {
        return "read: " + read_secret(path);
    } catch (const std::runtime_error& error) {
        return error.what();
    }
}

}  // namespace

TEST_CASE("a secret is made once, for nobody else to read, and is the same after a restart") {
    const scratch directory;
    std::string made;
    {
        const state_directory held{directory / "state.d"};
        made = kept_secret(held);
        CHECK(made.size() == hash_key::random_bytes_min);
        struct stat status {};
        REQUIRE(::stat((directory / "state.d/secret").c_str(), &status) == 0);
        CHECK((status.st_mode & 0777) == 0600);
    }
    const state_directory held{directory / "state.d"};
    CHECK(kept_secret(held) == made);
    CHECK(random_secret() != made);
    CHECK(random_secret() != random_secret());
}

TEST_CASE("a secret that is damaged is not replaced in silence: all series would be new") {
    const scratch directory;
    const state_directory held{directory / "state.d"};
    write_file(directory / "state.d/secret", "short");
    CHECK_THROWS_WITH(kept_secret(held),
                      "state.dir: " + (directory / "state.d/secret") + ": a secret of 5 bytes, at least 32 are needed");
}

TEST_CASE("a secret of several gates comes from a file, and every byte of it counts") {
    const scratch directory;
    const std::string path = directory / "shared";
    CHECK(error_of(path) == "fingerprint.secretFile: cannot read " + path + ": No such file or directory");
    write_file(path, std::string(31, 'x'));
    CHECK(error_of(path) == "fingerprint.secretFile: " + path + ": a secret of 31 bytes, at least 32 are needed");
    write_file(path, std::string(65 * 1024, 'x'));
    CHECK(error_of(path) == "fingerprint.secretFile: " + path + ": too long");
    write_file(path, std::string(33, 'x'));
    CHECK(read_secret(path) == std::string(33, 'x'));
}
