#include "process/inherited_sockets.hpp"

#include "support/catch.hpp"

namespace seriesgate::testing::inherited_sockets_test {
namespace {

constexpr const char* loopback = "127.0.0.1";

given_socket listening(std::string name, const char* host = loopback) {
    net::io_context io;
    stream_acceptor made = listen_at(io, host, 0);
    return {.name = std::move(name), .at = {.file = {}, .socket = detached_socket{made}}};
}

std::uint16_t port_of(const given_socket& of) {
    return seriesgate::port_of(of.at.socket.local_endpoint());
}

listen_address somewhere() {
    return {.host = loopback, .port = 1};
}

given_listeners assign(given_socket first, given_socket second, const std::optional<listen_address>& admin) {
    std::vector<given_socket> given;
    given.push_back(std::move(first));
    given.push_back(std::move(second));
    return assign_sockets(std::move(given), somewhere(), admin);
}

std::string fault_of(given_socket first, given_socket second) {
    try {
        static_cast<void>(assign(std::move(first), std::move(second), std::nullopt));
    } catch (const std::runtime_error& error) {
        return error.what();
    }
    return "";
}

TEST_CASE("a socket goes by its name, wherever it is bound") {
    given_socket admin_server = listening("admin");
    given_socket senders = listening("gate");
    const auto ports = std::pair{port_of(senders), port_of(admin_server)};
    const given_listeners found = assign(std::move(admin_server), std::move(senders), somewhere());
    REQUIRE(found.gate);
    REQUIRE(found.admin);
    CHECK(std::pair{seriesgate::port_of(found.gate->socket.local_endpoint()),
                    seriesgate::port_of(found.admin->socket.local_endpoint())} == ports);
}

TEST_CASE("a socket with another name goes by where it is bound") {
    given_socket admin_server = listening("seriesgate.socket");
    const std::uint16_t port = port_of(admin_server);
    std::vector<given_socket> given;
    given.push_back(std::move(admin_server));
    const given_listeners found =
        assign_sockets(std::move(given), somewhere(), listen_address{.host = loopback, .port = port});
    CHECK_FALSE(found.gate);
    CHECK(found.admin);
}

TEST_CASE("nothing is found for nothing") {
    const given_listeners found = assign_sockets({}, somewhere(), somewhere());
    CHECK_FALSE(found.gate);
    CHECK_FALSE(found.admin);
}

TEST_CASE("two sockets for the same, or one for nothing, are mistakes") {
    CHECK(fault_of(listening("gate"), listening("gate"))
              .ends_with("is the second one for the same: there can be but one"));
    CHECK(fault_of(listening("gate"), listening("other")).find("is neither at listen (127.0.0.1:1)") !=
          std::string::npos);
    CHECK(fault_of(listening("gate"), listening("admin")).ends_with("is for admin.listen, which is not set"));
}

TEST_CASE("a bound address fits a configured one") {
    const auto at = [](const char* host, std::uint16_t port) {
        return tcp_endpoint(net::ip::make_address(host), port);
    };
    CHECK(fits(at("127.0.0.1", 9201), {.host = "127.0.0.1", .port = 9201}));
    CHECK(fits(at("127.0.0.1", 9201), {.host = "127.0.0.1", .port = 0}));
    CHECK(fits(at("::", 9201), {.host = "0.0.0.0", .port = 9201}));
    CHECK(fits(at("127.0.0.1", 9201), {.host = "localhost", .port = 9201}));
    CHECK_FALSE(fits(at("127.0.0.1", 9202), {.host = "127.0.0.1", .port = 9201}));
    CHECK_FALSE(fits(at("127.0.0.2", 9201), {.host = "127.0.0.1", .port = 9201}));
    CHECK_FALSE(fits(at("0.0.0.0", 9201), {.host = "127.0.0.1", .port = 9201}));
    CHECK(fits(unix_endpoint("/run/x"), {.unix_path = "/run/x"}));
    CHECK_FALSE(fits(unix_endpoint("/run/x"), {.unix_path = "/run/y"}));
    CHECK_FALSE(fits(at("127.0.0.1", 9201), {.unix_path = "/run/x"}));
    CHECK_FALSE(fits(unix_endpoint("/run/x"), {.host = "127.0.0.1", .port = 9201}));
}

}  // namespace
}  // namespace seriesgate::testing::inherited_sockets_test
