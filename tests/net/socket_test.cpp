#include "net/socket.hpp"

#include <thread>

#include "net/timed_stream.hpp"
#include "support/catch.hpp"
#include "support/files.hpp"
#include "support/loopback.hpp"
#include "support/outcome.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;

TEST_CASE("an endpoint says what it is") {
    const auto v4 = tcp_endpoint(net::ip::make_address("127.0.0.1"), 9201);
    const auto v6 = tcp_endpoint(net::ip::make_address("::1"), 9201);
    const auto path = unix_endpoint("/run/seriesgate.sock");
    CHECK(endpoint_text(v4) == "127.0.0.1:9201");
    CHECK(endpoint_text(v6) == "[::1]:9201");
    CHECK(endpoint_text(path) == "unix:/run/seriesgate.sock");
    CHECK(endpoint_text(stream_endpoint{}) == "nowhere");
    CHECK(ip_address_of(v4) == net::ip::make_address("127.0.0.1"));
    CHECK(ip_address_of(v6) == net::ip::make_address("::1"));
    CHECK(ip_address_of(path) == std::nullopt);
    CHECK(ip_address_of(stream_endpoint{}) == std::nullopt);
    CHECK(port_of(v6) == 9201);
    CHECK(port_of(path) == 0);
    CHECK_THROWS_AS(unix_endpoint(std::string(200, 'x')), boost::system::system_error);
}

TEST_CASE("a network is one peer, and IPv4 is IPv4 however it is written") {
    const auto of = [](const char* text) { return network_of(net::ip::make_address(text)).to_string(); };
    CHECK(of("192.0.2.7") == "192.0.2.7");
    CHECK(of("::ffff:192.0.2.7") == "192.0.2.7");
    CHECK(of("2001:db8:1:2:3:4:5:6") == "2001:db8:1:2::");
    CHECK(of("2001:db8:1:2::1") == "2001:db8:1:2::");
    CHECK(of("2001:db8:1:3::1") == "2001:db8:1:3::");
    CHECK(of("fe80::1%1") == "fe80::");
    CHECK(network_of(tcp_endpoint(net::ip::make_address("::1"), 1)) == net::ip::make_address("::"));
    CHECK(network_of(unix_endpoint("/run/x")) == std::nullopt);
}

TEST_CASE("a listener by name has a port of its own") {
    net::io_context io{1};
    const stream_acceptor acceptor = listen_at(io, "localhost", 0);
    CHECK(port_of(acceptor.local_endpoint()) != 0);
    CHECK_THROWS_AS(listen_at(io, acceptor.local_endpoint()), boost::system::system_error);
}

TEST_CASE("a unix socket is a stream like others, and needs a limit like others") {
    const scratch_directory directory;
    net::io_context io{1};
    stream_acceptor acceptor = listen_at(io, unix_endpoint((directory / "gate.sock").string()));
    timed_stream stream{stream_socket{io}};
    const auto connect = [&] {
        return outcome_of(io, [&](auto handler) { stream.async_connect(acceptor.local_endpoint(), handler); });
    };
    CHECK(connect() == error_code{boost::beast::error::timeout});
    stream.expires_after(10s);
    REQUIRE(connect() == error_code{});
    stream_socket peer = acceptor.accept();
    stream.no_delay();  // nothing to it
    CHECK(ip_address_of(stream.peer()) == std::nullopt);
    CHECK(stream.is_quiet());
    net::write(peer, net::buffer("x", 1));
    CHECK_FALSE(stream.is_quiet());
    std::array<char, 1> room{};
    CHECK(outcome_of(io, [&](auto handler) { stream.async_read_some(net::buffer(room), handler); }) == error_code{});
    CHECK(room[0] == 'x');
}

TEST_CASE("a socket goes to another thread's context") {
    net::io_context ours{1};
    auto pair = connect_loopback(ours);
    net::io_context theirs{1};
    {
        detached_socket detached{pair.near};
        CHECK_FALSE(pair.near.is_open());
        auto attached = detached.attach(theirs);
        REQUIRE(attached.has_value());
        std::optional<error_code> written;
        std::thread other{[&] {
            timed_stream stream{std::move(*attached)};
            stream.expires_after(10s);
            stream.async_write_some(net::buffer("x", 1), [&](error_code error, std::size_t) {
                written = error;
                theirs.stop();  // the limit is still pending
            });
            theirs.run();
        }};
        other.join();
        CHECK(written == error_code{});
        CHECK_FALSE(detached.attach(theirs).has_value());
    }
    std::array<char, 1> room{};
    CHECK(net::read(pair.far, net::buffer(room)) == 1);
}

TEST_CASE("a socket that nobody attaches is closed, and one that is not open goes nowhere") {
    net::io_context io{1};
    auto pair = connect_loopback(io);
    { const detached_socket detached{pair.near}; }
    std::array<char, 1> room{};
    error_code error;
    net::read(pair.far, net::buffer(room), error);
    CHECK(error == net::error::eof);
    stream_socket closed{io};
    detached_socket detached{closed};
    CHECK_FALSE(detached.attach(io).has_value());
}
