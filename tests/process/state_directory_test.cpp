#include "process/state_directory.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "support/catch.hpp"
#include "support/files.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;

namespace fs = std::filesystem;

namespace {

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

}  // namespace

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
    CHECK_THROWS_WITH(state_directory{std::filesystem::path{"/proc/seriesgate"}},
                      "state.dir: cannot make /proc/seriesgate: No such file or directory");
}

TEST_CASE("a directory may be reached by a link") {
    const scratch_directory scratch;
    fs::create_directory(scratch / "real");
    fs::create_symlink(scratch / "real", scratch / "link");
    state_directory held{scratch / "link"};
    CHECK(held.replace("thing", writing("one")));
    CHECK(held.hold() == state_directory::holding::kept);
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
        SECTION("to be written") {
            const state_directory held{scratch / "d"};
            put_in_the_way(what, scratch / "d/thing.new");
            if (what == "directory") {
                CHECK_THROWS_WITH(held.replace("thing", writing("one")),
                                  "cannot write " + held.path_of("thing.new") + ": Is a directory");
            } else {
                CHECK(held.replace("thing", writing("one")));
                CHECK(held.read("thing", 10) == "one");
            }
        }
        SECTION("to be replaced") {
            const state_directory held{scratch / "d"};
            put_in_the_way(what, scratch / "d/thing");
            if (what == "directory") {
                CHECK_THROWS_WITH(held.replace("thing", writing("one")),
                                  "cannot rename " + held.path_of("thing.new") + ": Is a directory");
            } else {
                CHECK(held.replace("thing", writing("one")));
                CHECK(held.read("thing", 10) == "one");
            }
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
    CHECK(held.hold() == state_directory::holding::kept);

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
    CHECK(held.hold() == state_directory::holding::renewed);
    CHECK(held.hold() == state_directory::holding::kept);
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
    CHECK(held.hold() == state_directory::holding::renewed);  // when the way is free
}
