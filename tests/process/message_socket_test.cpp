#include "process/takeover_protocol.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "support/catch.hpp"
#include "support/files.hpp"
#include "support/loopback.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;

namespace {

/// A path in a folder of its own, and the two who meet there.
struct meeting {
    scratch_directory folder{};
    std::string path;

    explicit meeting(const char* name = "here") : path(folder / name) {
        std::filesystem::create_directories(std::filesystem::path{path}.parent_path());
    }
};

struct pair_of_ends : meeting {
    message_listener listens{path, message_listener::place::free};
    message_socket near, far;

    explicit pair_of_ends(const char* name = "here") : meeting(name) {
        auto reached = message_socket::connect_to(path);
        REQUIRE(reached.has_value());
        near = std::move(*reached);
        auto came = listens.accept();
        REQUIRE(came.has_value());
        far = std::move(*came);
    }
};

error_code error_of(const result<message, error_code>& got) {
    return got ? error_code{} : got.error();
}

}  // namespace

TEST_CASE("messages arrive whole, one by one") {
    pair_of_ends ends;
    CHECK(error_of(ends.far.receive()) == net::error::would_block);
    CHECK_FALSE(ends.near.send("one"));
    CHECK_FALSE(ends.near.send(std::string(message_socket::text_bytes_max, 'x')));
    CHECK(ends.far.receive()->text == "one");
    CHECK(ends.far.receive_within(1s)->text.size() == message_socket::text_bytes_max);
    CHECK(error_of(ends.far.receive_within(10ms)) == net::error::timed_out);
    ends.near.close();
    CHECK(error_of(ends.far.receive()) == net::error::eof);
    CHECK(ends.far.send("late") == boost::system::errc::broken_pipe);
}

TEST_CASE("a message that is longer than any is no message") {
    pair_of_ends ends;
    const std::string longer(message_socket::text_bytes_max + 1, 'x');
    detached_socket raw{::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0)};
    const stream_endpoint there = unix_endpoint(ends.path);
    REQUIRE(::connect(raw.native_handle(), there.data(), static_cast<socklen_t>(there.size())) == 0);
    auto far = ends.listens.accept();
    REQUIRE(far.has_value());
    REQUIRE(::send(raw.native_handle(), longer.data(), longer.size(), 0) == static_cast<ssize_t>(longer.size()));
    CHECK(error_of(far->receive()) == net::error::message_size);
}

TEST_CASE("sockets travel in messages, as many as one may have") {
    pair_of_ends ends;
    net::io_context io;
    auto pair = connect_loopback(io);
    const std::vector<int> copies(message_socket::sockets_max, pair.far.native_handle());
    CHECK_FALSE(ends.near.send("take", copies));
    auto got = ends.far.receive();
    REQUIRE(got.has_value());
    CHECK(got->text == "take");
    REQUIRE(got->sockets.size() == message_socket::sockets_max);
    for (const detached_socket& each : got->sockets) CHECK(::fcntl(each.native_handle(), F_GETFD) == FD_CLOEXEC);

    // What one process closes the other still has.
    pair.far.close();
    auto attached = got->sockets.back().attach(io);
    REQUIRE(attached.has_value());
    CHECK(attached->peer() == pair.near.local_endpoint());
    net::write(*attached, net::buffer("x", 1));
    char byte = 0;
    CHECK(net::read(pair.near, net::buffer(&byte, 1)) == 1);
}

TEST_CASE("what has been sent before more is refused arrives, and nothing after it can be sent") {
    pair_of_ends ends;
    CHECK_FALSE(ends.near.send("before"));
    ends.far.refuse_more();
    CHECK(ends.near.send("after") == boost::system::errc::broken_pipe);
    CHECK(ends.far.receive()->text == "before");
    CHECK(error_of(ends.far.receive()) == net::error::eof);
}

TEST_CASE("who connects is known by its user") {
    const pair_of_ends ends;
    CHECK(ends.near.peer_user() == ::geteuid());
    CHECK(ends.far.peer_user() == ::geteuid());
    CHECK(message_socket{}.peer_user() == static_cast<uid_t>(-1));
}

TEST_CASE("the file is its owner's alone, and goes with the listener") {
    const meeting at;
    {
        const message_listener listens{at.path, message_listener::place::free};
        struct stat found {};
        REQUIRE(::lstat(at.path.c_str(), &found) == 0);
        CHECK((found.st_mode & 0777) == 0600);
    }
    CHECK_FALSE(std::filesystem::exists(at.path));
    CHECK(message_socket::connect_to(at.path).error() == boost::system::errc::no_such_file_or_directory);
}

TEST_CASE("a place that somebody listens at is not free, one that is left over is") {
    const meeting at;
    {
        message_listener listens{at.path, message_listener::place::free};
        CHECK_THROWS_AS((message_listener{at.path, message_listener::place::free}), boost::system::system_error);
        listens.leave_file();
    }
    CHECK(std::filesystem::exists(at.path));
    const message_listener next{at.path, message_listener::place::free};
    CHECK(message_socket::connect_to(at.path).has_value());
}

TEST_CASE("a place that is given up is replaced, and its last owner does not remove what is there then") {
    const meeting at;
    auto before = std::make_unique<message_listener>(at.path, message_listener::place::free);
    const message_listener next{at.path, message_listener::place::given_up};
    before->leave_file();
    before.reset();
    CHECK(message_socket::connect_to(at.path).has_value());
}

TEST_CASE("what is no socket is not replaced") {
    const meeting at;
    write_file(at.path, "text");
    CHECK_THROWS_AS((message_listener{at.path, message_listener::place::free}), boost::system::system_error);
    CHECK(std::filesystem::file_size(at.path) == 4);
}

TEST_CASE("a path may be longer than an address has room for") {
    pair_of_ends ends{(std::string(100, 'a') + "/" + std::string(100, 'b') + "/takeover").c_str()};
    CHECK_FALSE(ends.near.send("far"));
    CHECK(ends.far.receive()->text == "far");
}
