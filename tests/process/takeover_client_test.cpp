#include "process/takeover_client.hpp"

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <thread>

#include "process/takeover_protocol.hpp"
#include "support/catch.hpp"
#include "support/files.hpp"
#include "support/loopback.hpp"

namespace seriesgate::testing::takeover_client_test {
namespace {

/// A gate that runs, and says what the test lets it say.
struct scene {
    scratch_directory folder{};
    std::string path = folder / "running";
    message_listener listens{path, message_listener::place::free};
    std::optional<takeover_client> next = takeover_client::of_gate_at(path);
    message_socket running = *listens.accept();

    [[nodiscard]] std::string heard() { return running.receive_within(1s)->text; }
};

TEST_CASE("where no gate runs there is no place to take") {
    CHECK_FALSE(takeover_client::of_gate_at("/nowhere/at/all"));
}

TEST_CASE("a place is taken of the same user only, or of root") {
    if (::geteuid() != 0) return;  // nobody else can be two users
    const std::string path = (std::filesystem::temp_directory_path() / "of-another-user").string();
    REQUIRE(::seteuid(65'534) == 0);
    std::optional<message_listener> listens{std::in_place, path, message_listener::place::free};
    REQUIRE(::seteuid(0) == 0);
    CHECK_THROWS_WITH(takeover_client::of_gate_at(path),
                      "takeover: " + path + ": the process there is of the user 65534, this one of 0");
}

TEST_CASE("a place is taken step by step") {
    scene at;
    net::io_context io;
    auto pair = connect_loopback(io);
    const int given = pair.far.native_handle();
    REQUIRE_FALSE(at.running.send("socket gate", std::span{&given, 1}));
    REQUIRE_FALSE(at.running.send("socket admin file", std::span{&given, 1}));
    REQUIRE_FALSE(at.running.send("that is all"));
    const auto sockets = at.next->ask_for_sockets();
    REQUIRE(sockets.size() == 2);
    CHECK(sockets[0].name == "gate");
    CHECK_FALSE(sockets[0].at.leaves_file);
    CHECK(sockets[1].name == "admin");
    CHECK(sockets[1].at.leaves_file);
    CHECK(at.heard() == "seriesgate takeover 1");

    const std::array copies{given, given, given};
    REQUIRE_FALSE(at.running.send("wait"));
    REQUIRE_FALSE(at.running.send("connections gate", copies));  // as a gate of 0.1 does
    REQUIRE_FALSE(at.running.send("connections admin", std::span{&given, 1}));
    REQUIRE_FALSE(at.running.send("yours"));
    at.next->take();
    CHECK(at.heard() == "go");
    CHECK(at.heard() == "got");
    CHECK(at.heard() == "got");

    CHECK_FALSE(at.next->look());
    REQUIRE_FALSE(at.running.send("serve"));
    at.next->serve();
    CHECK(at.heard() == "ready");
}

TEST_CASE("why the gate that runs does not leave its place is said") {
    scene at;
    REQUIRE_FALSE(at.running.send("no this one is not ready, or shuts down"));
    CHECK_THROWS_WITH(at.next->ask_for_sockets(), "takeover: the running gate: this one is not ready, or shuts down");
}

TEST_CASE("a gate that ends it, or says something else, is a fault at every step") {
    scene at;
    const std::string ended = "takeover: the running gate has ended it: its log says why";
    const std::string other = "takeover: the running gate speaks another protocol";
    SECTION("it ends it") {
        at.running.close();
        CHECK_THROWS_WITH(at.next->ask_for_sockets(), ended);
        CHECK_THROWS_WITH(at.next->take(), ended);
        CHECK_THROWS_WITH(at.next->look(), ended);
        CHECK_THROWS_WITH(at.next->serve(), ended);
    }
    SECTION("it says something else for a socket") {
        REQUIRE_FALSE(at.running.send("socket gate"));  // and sends none
        CHECK_THROWS_WITH(at.next->ask_for_sockets(), other);
    }
    SECTION("it says something else for the place") {
        REQUIRE_FALSE(at.running.send("here"));
        CHECK_THROWS_WITH(at.next->take(), other);
    }
    SECTION("it says something else for the end") {
        REQUIRE_FALSE(at.running.send("perhaps"));
        CHECK_THROWS_WITH(at.next->serve(), other);
    }
}

TEST_CASE("a gate that ends a while after its connections leaves its place") {
    const scratch_directory folder;
    const std::string path = folder / "running";
    const pid_t running = ::fork();
    if (running == 0) {
        message_listener listens{path, message_listener::place::free};
        pollfd somebody{.fd = listens.native_handle(), .events = POLLIN, .revents = 0};
        ::poll(&somebody, 1, 10'000);
        static_cast<void>(listens.accept());  // closes it
        std::this_thread::sleep_for(1500ms);  // frees its memory, and waits for the reader of its log
        ::_exit(0);
    }
    const auto limit = std::chrono::steady_clock::now() + 10s;
    const auto until = [&](const auto& is_so) {
        while (!is_so() && std::chrono::steady_clock::now() < limit) std::this_thread::sleep_for(5ms);
    };
    std::optional<takeover_client> next;
    until([&] { return (next = takeover_client::of_gate_at(path)).has_value(); });
    REQUIRE(next.has_value());
    bool has_died = false;
    CHECK_NOTHROW(until([&] { return has_died = next->look(); }));
    CHECK(has_died);
    ::waitpid(running, nullptr, 0);
}

TEST_CASE("two gates meet in the state's directory, or where they are told to") {
    config settings;
    CHECK(takeover_path(settings).empty());
    settings.state.dir = "/var/lib/seriesgate";
    CHECK(takeover_path(settings) == "/var/lib/seriesgate/takeover");
    settings.state.dir = "/var/lib/seriesgate/";
    CHECK(takeover_path(settings) == "/var/lib/seriesgate/takeover");
    settings.server.takeover_socket = "/run/seriesgate/takeover";
    CHECK(takeover_path(settings) == "/run/seriesgate/takeover");
}

}  // namespace
}  // namespace seriesgate::testing::takeover_client_test
