#include "net/socket.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "support/catch.hpp"
#include "support/files.hpp"

namespace seriesgate::testing::socket_file_test {
namespace {

struct scene {
    scratch_directory directory;
    const std::string path = (directory / "gate.sock").string();
    net::io_context io{1};

    /// As a process leaves it behind that is killed.
    void leave_one_behind() {
        const stream_acceptor gone = listen_at(io, unix_endpoint(path));
        REQUIRE(std::filesystem::is_socket(path));
    }
    [[nodiscard]] bool is_there() const { return std::filesystem::exists(std::filesystem::symlink_status(path)); }
    [[nodiscard]] error_code connect() {
        stream_socket peer{io};
        error_code error;
        peer.connect(unix_endpoint(path), error);
        return error;
    }
    [[nodiscard]] error_code why_not() {
        try {
            const listening_socket made = listen_at_path(io, path);
            return {};
        } catch (const boost::system::system_error& error) {
            return error.code();
        }
    }
};

TEST_CASE("a socket's file is its owner's and group's, and goes with it") {
    scene at;
    const mode_t before = ::umask(0022);
    {
        const listening_socket made = listen_at_path(at.io, at.path);
        struct stat found {};
        REQUIRE(::lstat(at.path.c_str(), &found) == 0);
        CHECK((found.st_mode & 0777) == 0660);
        CHECK_FALSE(at.connect());
    }
    CHECK_FALSE(at.is_there());
    CHECK(::umask(before) == 0022);  // as it was
}

TEST_CASE("a mask that lets only the owner in stays one") {
    scene at;
    const mode_t before = ::umask(0077);
    const listening_socket made = listen_at_path(at.io, at.path);
    CHECK(::umask(before) == 0077);
    struct stat found {};
    REQUIRE(::lstat(at.path.c_str(), &found) == 0);
    CHECK((found.st_mode & 0777) == 0600);
}

TEST_CASE("what a killed process has left behind is replaced, a living one's is not") {
    scene at;
    at.leave_one_behind();
    CHECK(at.connect() == net::error::connection_refused);
    {
        const listening_socket made = listen_at_path(at.io, at.path);
        CHECK_FALSE(at.connect());
        CHECK(at.why_not() == net::error::address_in_use);
        CHECK_FALSE(at.connect());  // still there
    }
    CHECK_FALSE(at.is_there());
}

TEST_CASE("a living one whose queue is full is not replaced") {
    scene at;
    stream_acceptor full{at.io};
    full.open(unix_endpoint(at.path).protocol());
    full.bind(unix_endpoint(at.path));
    full.listen(0);
    stream_socket first{at.io};
    first.connect(unix_endpoint(at.path));
    stream_socket second{at.io};
    second.open(unix_endpoint(at.path).protocol());
    second.non_blocking(true);
    error_code error;
    second.connect(unix_endpoint(at.path), error);
    CHECK(at.why_not() == net::error::address_in_use);
    CHECK(at.is_there());
}

TEST_CASE("a file that is no socket stays, and so does the directory that is not there") {
    scene at;
    SECTION("a file") {
        std::ofstream{at.path} << "precious";
        CHECK(at.why_not() == net::error::address_in_use);
        CHECK(std::filesystem::file_size(at.path) == 8);
    }
    SECTION("a link to nowhere") {
        std::filesystem::create_symlink("nowhere", at.path);
        CHECK(at.why_not() == net::error::address_in_use);
        CHECK(at.is_there());
    }
    SECTION("no directory") {
        const scratch_directory gone;
        CHECK_THROWS_AS(listen_at_path(at.io, (gone / "not" / "there").string()), boost::system::system_error);
    }
}

TEST_CASE("a file that another process has put in place is not removed") {
    scene at;
    listening_socket made = listen_at_path(at.io, at.path);
    std::filesystem::rename(at.path, at.path + ".old");  // so that its number is not given anew
    at.leave_one_behind();
    made.file.remove();
    CHECK(at.is_there());
}

TEST_CASE("a file is removed once, by whoever has it last") {
    scene at;
    listening_socket made = listen_at_path(at.io, at.path);
    socket_file other{std::move(made.file)};
    made.file.remove();
    CHECK(at.is_there());
    socket_file third;
    third = std::move(other);
    other.remove();
    CHECK(at.is_there());
    third.remove();
    CHECK_FALSE(at.is_there());
}

}  // namespace
}  // namespace seriesgate::testing::socket_file_test
