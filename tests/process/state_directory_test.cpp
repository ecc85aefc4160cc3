#include "process/state_directory.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <stdexcept>

#include "series/fingerprint.hpp"
#include "support/catch.hpp"
#include "support/files.hpp"

namespace seriesgate::testing::state_directory_test {
namespace {

namespace fs = std::filesystem;

state_directory::writer writing(std::string_view text) {
    return [text](int fd) { return !write_all(fd, text); };
}

mode_t mode_of(const fs::path& path) {
    struct stat status {};
    REQUIRE(::lstat(path.c_str(), &status) == 0);
    return status.st_mode & 07777;
}

/// What must not be followed, waited for, or written into.
void put_in_the_way(const std::string& what, const fs::path& path) {
    if (what == "fifo") REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
    if (what == "symlink") fs::create_symlink(path.parent_path() / "../victim", path);
    if (what == "dangling symlink") fs::create_symlink(path.parent_path() / "../nowhere", path);
    if (what == "hard link") fs::create_hard_link(path.parent_path() / "../victim", path);
    if (what == "directory") fs::create_directory(path);
}

/// A part that is one number.
struct scene {
    scratch_directory scratch;
    state_directory directory{scratch / "state.d"};
    fs::path path = scratch / "state.d/observed";

    void save(std::uint64_t number, std::uint64_t secret = 1) {
        cardinality_file file{directory, secret};
        file.save([&](state_encoder& out) { out.number(number); });
    }
    /// @return what was loaded, or why not.
    std::string load(std::uint64_t secret = 1) {
        std::string found = "nothing";
        const std::string wrong = cardinality_file{directory, secret}.load([&](state_decoder& in) {
            const auto number = in.number<std::uint64_t>();
            if (in.good() && number != 13) found = std::to_string(number);
            return in.good() && number != 13;
        });
        return wrong.empty() ? found : wrong.substr(wrong.rfind(": ") + 2);
    }
};

TEST_CASE("a file is replaced whole, and what is made is its owner's alone") {
    const scratch_directory scratch;
    const state_directory held{scratch / "a/b"};
    CHECK(mode_of(scratch / "a/b") == 0700);
    CHECK(mode_of(scratch / "a/b/lock") == 0600);
    CHECK(held.read("thing", 10) == std::nullopt);
    CHECK(held.replace("thing", writing("one")));
    CHECK(held.read("thing", 3) == "one");
    CHECK(held.replace("thing", writing("two!")));
    CHECK(held.read("thing", 10) == "two!");
    CHECK_THROWS_WITH(held.read("thing", 3), (scratch / "a/b/thing").string() + ": too long");
    CHECK(mode_of(scratch / "a/b/thing") == 0600);
    CHECK_FALSE(fs::exists(scratch / "a/b/thing.new"));
}

TEST_CASE("a writer that gives up or fails leaves the file of before, and nothing else") {
    const scratch_directory scratch;
    const state_directory held{scratch / "d"};
    CHECK(held.replace("thing", writing("one")));
    CHECK_FALSE(held.replace("thing", [](int fd) { return !write_all(fd, "half") && false; }));
    CHECK_THROWS_WITH(held.replace("thing",
                                   [](int) -> bool {
                                       throw std::system_error{ENOSPC, std::generic_category()};
                                   }),
                      "cannot write " + (scratch / "d/thing.new").string() + ": No space left on device");
    CHECK_THROWS_AS(held.replace("thing", [](int) -> bool { throw std::bad_alloc{}; }), std::bad_alloc);
    CHECK(held.read("thing", 10) == "one");
    CHECK_FALSE(fs::exists(scratch / "d/thing.new"));
}

TEST_CASE("a full disk is told by the write, not when the file is read again") {
    const descriptor full{::open("/dev/full", O_WRONLY | O_CLOEXEC)};
    REQUIRE(full.open());
    CHECK(write_all(full.get(), "bytes") == std::error_code{ENOSPC, std::generic_category()});
    CHECK_FALSE(write_all(full.get(), ""));
}

TEST_CASE("a directory is for one at a time") {
    const scratch_directory scratch;
    const auto path = scratch / "d";
    {
        const state_directory first{path};
        CHECK_THROWS_WITH(state_directory{path}, "state.dir: " + path.string() + " is in use by another process");
    }
    CHECK_NOTHROW(state_directory{path});
    CHECK_NOTHROW(state_directory{path / ""});
}

TEST_CASE("a directory that cannot be used says why") {
    const scratch_directory scratch;
    const auto path = scratch / "file";
    write_file(path, "");
    CHECK_THROWS_WITH(state_directory{path}, "state.dir: cannot open " + path.string() + ": Not a directory");
    CHECK_THROWS_WITH(state_directory{path / "d"},
                      "state.dir: cannot make " + (path / "d").string() + ": " + path.string() + ": Not a directory");
    const auto long_name = path.parent_path() / std::string(300, 'x');
    CHECK_THROWS_WITH(state_directory{long_name},
                      "state.dir: cannot make " + long_name.string() + ": File name too long");
    CHECK_THROWS_WITH(state_directory{fs::path{"/proc/seriesgate"}},
                      "state.dir: cannot make /proc/seriesgate: No such file or directory");
}

TEST_CASE("a directory may be reached by a link") {
    const scratch_directory scratch;
    fs::create_directory(scratch / "real");
    fs::create_symlink(scratch / "real", scratch / "link");
    state_directory held{scratch / "link"};
    CHECK(held.replace("thing", writing("one")));
    CHECK_FALSE(held.hold());
    CHECK(read_file(scratch / "real/thing") == "one");
}

TEST_CASE("what lies under a name of ours is not waited for, followed or written into") {
    const scratch_directory scratch;
    write_file(scratch / "victim", "untouched");
    const auto what = GENERATE(as<std::string>{}, "fifo", "symlink", "dangling symlink", "hard link", "directory");
    DYNAMIC_SECTION(what) {
        SECTION("to be read") {
            const state_directory held{scratch / "d"};
            put_in_the_way(what, scratch / "d/thing");
            if (what == "hard link")
                CHECK(held.read("thing", 10) == "untouched");  // a file like others
            else
                CHECK_THROWS_WITH(
                    held.open("thing"),
                    (what.find("symlink") != what.npos ? "cannot open " + held.path_of("thing") + ": is a symbolic link"
                                                       : held.path_of("thing") + ": not a regular file"));
        }
        const auto is_replaced = [&](const char* in_the_way, const std::string& step) {
            const state_directory held{scratch / "d"};
            put_in_the_way(what, scratch / in_the_way);
            if (what == "directory") {
                CHECK_THROWS_WITH(held.replace("thing", writing("one")),
                                  "cannot " + step + " " + held.path_of("thing.new") + ": Is a directory");
            } else {
                CHECK(held.replace("thing", writing("one")));
                CHECK(held.read("thing", 10) == "one");
            }
        };
        SECTION("to be written") {
            is_replaced("d/thing.new", "write");
        }
        SECTION("to be replaced") {
            is_replaced("d/thing", "rename");
        }
        SECTION("to be locked") {
            fs::create_directory(scratch / "d");
            put_in_the_way(what, scratch / "d/lock");
            if (what == "hard link")
                CHECK_NOTHROW(state_directory{scratch / "d"});  // an empty file would be as good
            else
                CHECK_THROWS(state_directory{scratch / "d"});
        }
        CHECK(read_file(scratch / "victim") == "untouched");
        CHECK_FALSE(fs::exists(scratch / "nowhere"));
    }
}

TEST_CASE("a directory that goes is made and locked anew") {
    const scratch_directory scratch;
    const auto path = scratch / "a/d";
    state_directory held{path};
    CHECK(held.replace("thing", writing("one")));
    CHECK(held.is_held());
    CHECK_FALSE(held.hold());

    SECTION("with what is above it") {
        fs::remove_all(scratch / "a");
    }
    SECTION("alone") {
        fs::remove_all(path);
    }
    SECTION("to another name") {
        fs::rename(path, scratch / "elsewhere");
    }
    SECTION("and an empty one is in its place") {
        fs::rename(path, scratch / "elsewhere");
        fs::create_directory(path);
    }
    SECTION("or what was in it") {
        fs::remove(path / "thing");
        fs::remove(path / "lock");
    }
    SECTION("or its lock alone") {
        fs::remove(path / "lock");
    }
    CHECK_FALSE(held.is_held());
    CHECK(held.hold());
    CHECK_FALSE(held.hold());
    CHECK_THROWS_WITH(state_directory{path}, Catch::Matchers::EndsWith("is in use by another process"));
    CHECK(held.replace("thing", writing("two")));
    CHECK(read_file(path / "thing") == "two");
    if (fs::exists(scratch / "elsewhere")) CHECK(read_file(scratch / "elsewhere/thing") == "one");
}

TEST_CASE("another's directory in the place of ours is left alone") {
    const scratch_directory scratch;
    const auto path = scratch / "d";
    state_directory held{path};
    CHECK(held.replace("thing", writing("one")));
    fs::rename(path, scratch / "elsewhere");

    SECTION("while it is in use") {
        const state_directory other{path};
        CHECK_THROWS_WITH(held.hold(), Catch::Matchers::EndsWith("is in use by another process"));
    }
    SECTION("after it was in use") {
        {
            const state_directory other{path};
            CHECK(other.replace("thing", writing("theirs")));
        }
        CHECK_THROWS_WITH(held.hold(), "state.dir: " + path.string() +
                                           " is another directory now than the one this process has locked, with files"
                                           " in it");
        CHECK(read_file(path / "thing") == "theirs");
        fs::remove_all(path);
    }
    SECTION("a file") {
        write_file(path, "in the way");
        CHECK_THROWS_WITH(held.hold(), "state.dir: cannot open " + path.string() + ": Not a directory");
        fs::remove(path);
    }
    SECTION("with a lock that is none") {
        fs::create_directory(path);
        put_in_the_way("fifo", path / "lock");
        CHECK_THROWS_WITH(held.hold(), "state.dir: " + (path / "lock").string() + ": not a regular file");
        fs::remove(path / "lock");
    }
    CHECK(held.hold());  // when the way is free
}

TEST_CASE("a secret is made once, for nobody else to read, and is the same after a restart") {
    const scratch_directory directory;
    std::string made;
    {
        const state_directory held{directory / "state.d"};
        made = kept_secret(held);
        CHECK(made.size() == hash_key::random_bytes_min);
        CHECK(mode_of(directory / "state.d/secret") == 0600);
    }
    const state_directory held{directory / "state.d"};
    CHECK(kept_secret(held) == made);
    CHECK(random_secret() != made);
    CHECK(random_secret() != random_secret());
}

TEST_CASE("a secret that is damaged is not replaced in silence: all series would be new") {
    const scene at;
    const auto secret = at.scratch / "state.d/secret";
    write_file(secret, "short");
    CHECK_THROWS_WITH(kept_secret(at.directory),
                      "state.dir: " + secret.string() + ": a secret of 5 bytes, at least 32 are needed");
}

TEST_CASE("a secret of several gates comes from a file, and every byte of it counts") {
    const scratch_directory directory;
    const std::string path = directory / "shared";
    CHECK_THROWS_WITH(read_secret(path), "fingerprint.secretFile: cannot read " + path + ": No such file or directory");
    write_file(path, std::string(31, 'x'));
    CHECK_THROWS_WITH(read_secret(path),
                      "fingerprint.secretFile: " + path + ": a secret of 31 bytes, at least 32 are needed");
    write_file(path, std::string(65 * 1024, 'x'));
    CHECK_THROWS_WITH(read_secret(path), "fingerprint.secretFile: " + path + ": too long");
    write_file(path, std::string(33, 'x'));
    CHECK(read_secret(path) == std::string(33, 'x'));
}

TEST_CASE("a secret's file may be as long as 64 KiB, and must be a file") {
    const scratch_directory directory;
    const std::string path = directory / "shared";
    write_file(path, std::string(64 * 1024, 'x'));
    CHECK(read_secret(path).size() == 64 * 1024);
    fs::create_directory(directory / "folder");
    const std::string folder = directory / "folder";
    CHECK_THROWS_WITH(read_secret(folder), "fingerprint.secretFile: cannot read " + folder + ": Is a directory");
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
        fs::create_directory(secret);
        CHECK_THROWS_WITH(kept_secret(held), secret.string() + ": not a regular file");
    }
    SECTION("a link") {
        write_file(directory / "elsewhere", std::string(32, 'x'));
        fs::create_symlink(directory / "elsewhere", secret);
        CHECK_THROWS_WITH(kept_secret(held), "cannot open " + secret.string() + ": is a symbolic link");
    }
}

TEST_CASE("a secret that cannot be kept is told, and that of before stays") {
    const scratch_directory directory;
    const state_directory held{directory / "state.d"};
    const std::string before = kept_secret(held);
    fs::create_directory(directory / "state.d/secret.new");  // in the way
    CHECK_THROWS_WITH(keep_secret(held, random_secret()),
                      "cannot write " + (directory / "state.d/secret.new").string() + ": Is a directory");
    fs::remove(directory / "state.d/secret.new");
    CHECK(kept_secret(held) == before);
    const std::string other = random_secret();
    keep_secret(held, other);
    CHECK(kept_secret(held) == other);
}

TEST_CASE("what was saved is loaded") {
    scene at;
    CHECK(at.load() == "nothing");
    at.save(7);
    CHECK(at.load() == "7");
    at.save(8);
    CHECK(at.load() == "8");
}

TEST_CASE("what has not changed is not written again") {
    scene at;
    cardinality_file file{at.directory, 1};
    const auto write = [](state_encoder& out) { out.number(std::uint64_t{5}); };
    file.save(write);
    fs::remove(at.path);
    file.save(write);
    CHECK_FALSE(fs::exists(at.path));
    file.save([](state_encoder& out) { out.number(std::uint64_t{6}); });
    CHECK(at.load() == "6");
}

TEST_CASE("a file that is not as it was written is told") {
    scene at;
    at.save(7);
    CHECK(at.load(2) == "made with another secret");
    const std::string whole = read_file(at.path);
    for (std::size_t i = 0; i < whole.size(); ++i) {
        std::string damaged = whole;
        damaged[i] = static_cast<char>(damaged[i] ^ 1);
        write_file(at.path, damaged);
        CHECK(at.load() == (i < 8 ? "no file of seriesgate's" : "truncated or corrupt"));
        write_file(at.path, whole.substr(0, i));
        CHECK(at.load() == (i < 28 ? "no file of seriesgate's" : "truncated or corrupt"));
    }
    at.save(13);
    CHECK(at.load() == "has other labels in it, or makes no sense");
}

TEST_CASE("what cannot be written is told") {
    scene at;
    fs::create_directories(at.path / "in the way");
    CHECK_THROWS_AS(at.save(7), std::runtime_error);
    CHECK_FALSE(at.load().empty());
}

}  // namespace
}  // namespace seriesgate::testing::state_directory_test
