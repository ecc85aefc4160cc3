#include "process/state_directory.hpp"

#include <sys/stat.h>

#include <filesystem>
#include <stdexcept>

#include "series/fingerprint.hpp"
#include "support/catch.hpp"
#include "support/files.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;

namespace {

std::string error_of(const std::string& path) {
    try {
        return "read: " + read_secret(path);
    } catch (const std::runtime_error& error) {
        return error.what();
    }
}

}  // namespace

TEST_CASE("a secret is made once, for nobody else to read, and is the same after a restart") {
    const scratch_directory directory;
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
    const scratch_directory directory;
    const state_directory held{directory / "state.d"};
    write_file(directory / "state.d/secret", "short");
    CHECK_THROWS_WITH(kept_secret(held), "state.dir: " + (directory / "state.d/secret").string() +
                                             ": a secret of 5 bytes, at least 32 are needed");
}

TEST_CASE("a secret of several gates comes from a file, and every byte of it counts") {
    const scratch_directory directory;
    const std::string path = directory / "shared";
    CHECK(error_of(path) == "fingerprint.secretFile: cannot read " + path + ": No such file or directory");
    write_file(path, std::string(31, 'x'));
    CHECK(error_of(path) == "fingerprint.secretFile: " + path + ": a secret of 31 bytes, at least 32 are needed");
    write_file(path, std::string(65 * 1024, 'x'));
    CHECK(error_of(path) == "fingerprint.secretFile: " + path + ": too long");
    write_file(path, std::string(33, 'x'));
    CHECK(read_secret(path) == std::string(33, 'x'));
}

TEST_CASE("a secret's file may be as long as 64 KiB, and must be a file") {
    const scratch_directory directory;
    const std::string path = directory / "shared";
    write_file(path, std::string(64 * 1024, 'x'));
    CHECK(read_secret(path).size() == 64 * 1024);
    std::filesystem::create_directory(directory / "folder");
    const std::string folder = directory / "folder";
    CHECK(error_of(folder) == "fingerprint.secretFile: cannot read " + folder + ": Is a directory");
}

TEST_CASE("a secret in state.dir that cannot be read is not replaced either") {
    const scratch_directory directory;
    const state_directory held{directory / "state.d"};
    const auto secret = directory / "state.d/secret";
    SECTION("too long") {
        write_file(secret, std::string(65 * 1024, 'x'));
        CHECK_THROWS_WITH(kept_secret(held), secret.string() + ": too long");
    }
    SECTION("a directory") {
        std::filesystem::create_directory(secret);
        CHECK_THROWS_WITH(kept_secret(held), secret.string() + ": not a regular file");
    }
    SECTION("a link") {
        write_file(directory / "elsewhere", std::string(32, 'x'));
        std::filesystem::create_symlink(directory / "elsewhere", secret);
        CHECK_THROWS_WITH(kept_secret(held), "cannot open " + secret.string() + ": is a symbolic link");
    }
}

TEST_CASE("a secret that cannot be kept is told, and that of before stays") {
    const scratch_directory directory;
    const state_directory held{directory / "state.d"};
    const std::string before = kept_secret(held);
    std::filesystem::create_directory(directory / "state.d/secret.new");  // in the way
    CHECK_THROWS_WITH(keep_secret(held, random_secret()),
                      "cannot write " + (directory / "state.d/secret.new").string() + ": Is a directory");
    std::filesystem::remove(directory / "state.d/secret.new");
    CHECK(kept_secret(held) == before);
    const std::string other = random_secret();
    keep_secret(held, other);
    CHECK(kept_secret(held) == other);
}
