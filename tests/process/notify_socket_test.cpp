#include "process/supervision.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>

#include "base/log.hpp"
#include "support/catch.hpp"

using namespace seriesgate;

namespace {

/// What systemd listens at.
struct manager {
    std::string name = std::filesystem::temp_directory_path() / ("notify-" + std::to_string(::getpid()));
    int socket = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    const bool is_abstract;

    explicit manager(bool abstract) : is_abstract(abstract) {
        log::set_up(log::format::logfmt, log::level::error);
        sockaddr_un at{};
        at.sun_family = AF_UNIX;
        std::memcpy(at.sun_path + (abstract ? 1 : 0), name.c_str(), name.size());
        const auto size = offsetof(sockaddr_un, sun_path) + name.size() + 1;
        REQUIRE(::bind(socket, reinterpret_cast<const sockaddr*>(&at), static_cast<socklen_t>(size)) == 0);
    }
    manager(const manager&) = delete;
    manager& operator=(const manager&) = delete;
    ~manager() {
        ::close(socket);
        if (!is_abstract) ::unlink(name.c_str());
    }

    [[nodiscard]] std::string address() const { return (is_abstract ? "@" : "") + name; }
    [[nodiscard]] std::string heard() const {
        std::array<char, 4096> text{};
        const ssize_t size = ::recv(socket, text.data(), text.size(), 0);
        return size < 0 ? "nothing" : std::string{text.data(), static_cast<std::size_t>(size)};
    }
};

}  // namespace

TEST_CASE("a manager at a path or under an abstract name is told") {
    const manager listens{GENERATE(false, true)};
    notify_socket told{listens.address()};
    CHECK(told);
    told.send("READY=1");
    told.send("STATUS=hour: 3 series\nWATCHDOG=1");
    CHECK(listens.heard() == "READY=1");
    CHECK(listens.heard() == "STATUS=hour: 3 series\nWATCHDOG=1");
    CHECK(listens.heard() == "nothing");
}

TEST_CASE("without a manager nobody is told") {
    notify_socket told{""};
    CHECK_FALSE(told);
    told.send("READY=1");
}

TEST_CASE("what is no path of a unix socket is no manager") {
    log::set_up(log::format::logfmt, log::level::error);
    CHECK_FALSE(notify_socket{"vsock:2:1234"});
    CHECK_FALSE(notify_socket{"relative"});
    CHECK_FALSE(notify_socket{"/" + std::string(200, 'x')});
}

TEST_CASE("a manager that has gone is told in vain") {
    std::string address;
    {
        const manager listens{false};
        address = listens.address();
    }
    notify_socket told{address};
    told.send("READY=1");
    told.send("READY=1");
    CHECK(told);
}
