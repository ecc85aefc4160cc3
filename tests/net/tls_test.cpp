#include "net/tls_session.hpp"

#include <thread>

#include "net/tls_pair.hpp"
#include "support/catch.hpp"
#include "support/outcome.hpp"

using boost::beast::error;

namespace seriesgate::testing::tls_test {
namespace {

/// What an operation came to.
struct outcome {
    std::optional<error_code> error;

    /// A handler for any operation, which remembers.
    auto handler() {
        return [this](error_code ended, auto...) { error = ended; };
    }
};

/// A client and a server, connected.
struct scene : tls_streams {
    using tls_streams::tls_streams;

    void run_until(const outcome& ended) {
        io.restart();
        while (!ended.error && io.run_one_for(10s) != 0) continue;
        REQUIRE(ended.error.has_value());
    }
    /// @return the client's outcome
    error_code shake_hands() {
        outcome asked;
        outcome served;
        client.async_handshake(asked.handler());
        server.async_handshake(served.handler());
        run_until(asked);
        if (!*asked.error) run_until(served);
        return *asked.error;
    }
    error_code write(timed_stream& from, std::string_view text) {
        return outcome_of(io, [&](auto handler) { net::async_write(from, net::buffer(text), handler); });
    }
    error_code read_some(timed_stream& from) {
        std::array<char, 16> room{};
        return outcome_of(io, [&](auto handler) { from.async_read_some(net::buffer(room), handler); });
    }
};

/// After the handshake.
struct shaken_scene : scene {
    shaken_scene() { REQUIRE(shake_hands() == error_code{}); }
};

TEST_CASE("with TLS nothing is read or written within a call") {
    scene with;
    std::array<char, 1> room{};
    error_code error;
    CHECK(with.client.write_now(net::buffer(room), error) == 0);
    CHECK(error == net::error::would_block);
    CHECK(with.client.read_now(net::buffer(room), error) == 0);
    CHECK(error == net::error::would_block);
}

TEST_CASE("after a handshake what one side writes the other reads, however long") {
    shaken_scene with;
    for (auto* from : {&with.client, &with.server}) {
        auto& to = from == &with.client ? with.server : with.client;
        std::string sent(1 << 20, 'x');
        for (std::size_t i = 0; i < sent.size(); ++i) sent[i] = static_cast<char>(i * 31 >> 3);
        std::string came(sent.size(), ' ');
        outcome written;
        outcome read;
        net::async_write(*from, net::buffer(sent), written.handler());
        net::async_read(to, net::buffer(came), read.handler());
        with.run_until(written);
        with.run_until(read);
        CHECK(*written.error == error_code{});
        CHECK(*read.error == error_code{});
        CHECK(came == sent);
    }
}

TEST_CASE("the small pieces of a header are written at once, up to a record") {
    shaken_scene with;
    const std::vector<std::string> lines(100, "Name: value\r\n");
    std::vector<net::const_buffer> pieces;
    for (const auto& line : lines) pieces.push_back(net::buffer(line));
    std::size_t written = 0;
    outcome ended;
    with.client.async_write_some(pieces, [&](error_code error, std::size_t bytes) {
        written = bytes;
        ended.error = error;
    });
    with.run_until(ended);
    CHECK(written == 100 * lines.front().size());
}

TEST_CASE("a server that cannot prove its name is not talked to") {
    scene with{"other.test"};
    CHECK(with.shake_hands() == tls_error::failed);
    CHECK(with.client.tls()->failure() == "hostname mismatch");
}

TEST_CASE("a peer that does not shake hands is not waited for longer than the limit") {
    scene with;
    outcome asked;
    SECTION("it says nothing") {
        with.client.expires_after(20ms);
    }
    SECTION("the limit has passed before") {
        with.client.expires_at(timed_stream::clock::now());
    }
    SECTION("it stops in the middle") {
        with.client.async_handshake(asked.handler());
        with.io.restart();
        with.io.poll();  // the client's first words are on their way, nobody answers
        with.client.expires_after(20ms);
        with.run_until(asked);
        CHECK(*asked.error == error::timeout);
        return;
    }
    with.client.async_handshake(asked.handler());
    with.run_until(asked);
    CHECK(*asked.error == error::timeout);
}

TEST_CASE("a connection that was never given a limit does nothing over TLS, either") {
    shaken_scene with;
    REQUIRE(with.write(with.server, "waiting to be read") == error_code{});
    with.client.forget_limit();
    CHECK(with.read_some(with.client) == error::timeout);
    CHECK(with.write(with.client, "x") == error::timeout);
    with.client.expires_after(10s);
    CHECK(with.read_some(with.client) == error_code{});
    CHECK(with.read_some(with.client) == error_code{});  // what is decrypted already
}

TEST_CASE("a write that nobody reads ends with the limit, and nothing can be written after it") {
    shaken_scene with;
    REQUIRE(with.write(with.server, "said before") == error_code{});
    const std::string filled(64 << 20, 'x');
    with.client.expires_after(1s);  // by when it waits amid a record
    CHECK(with.write(with.client, filled) == error::timeout);
    with.client.expires_after(10s);
    CHECK(with.write(with.client, "x") == net::error::broken_pipe);
    CHECK(with.read_some(with.client) == error_code{});
}

TEST_CASE("a read that nothing comes for ends with the limit, and can be begun again") {
    shaken_scene with;
    with.client.expires_after(20ms);
    CHECK(with.read_some(with.client) == error::timeout);
    CHECK(with.read_some(with.client) == error::timeout);
    with.client.expires_after(10s);
    REQUIRE(with.write(with.server, "late") == error_code{});
    CHECK(with.read_some(with.client) == error_code{});
}

TEST_CASE("a peer that closes without a word has cut off what it was saying") {
    shaken_scene with;
    REQUIRE(with.write(with.server, "half an ans") == error_code{});
    with.server.close();
    CHECK(with.read_some(with.client) == error_code{});
    CHECK(with.read_some(with.client) == tls_error::truncated);
}

TEST_CASE("what has not been confirmed when the peer ends is what was written, not what TLS said of its own accord") {
    shaken_scene with;
    stream_socket peer = std::move(with.server).release().socket;
    SECTION("a warning") {
        peer.send(net::buffer("no record of TLS"));
        peer.close();
        CHECK(with.read_some(with.client) == tls_error::failed);
        CHECK_FALSE(with.client.has_unconfirmed());
        CHECK(with.write(with.client, "request") == tls_error::failed);
    }
    SECTION("what was written") {
        peer.close();
        REQUIRE(with.write(with.client, "request") == error_code{});
        while (with.read_some(with.client) == error_code{}) continue;
        CHECK(with.client.has_unconfirmed());
    }
}

TEST_CASE("a connection is quiet when nothing has come that was not read") {
    shaken_scene with;
    REQUIRE(with.write(with.server, std::string(16, 'x')) == error_code{});
    CHECK(with.read_some(with.client) == error_code{});  // and with it what the server says after a handshake
    CHECK(with.client.is_quiet());
    SECTION("bytes") {
        REQUIRE(with.write(with.server, "unasked") == error_code{});
        CHECK_FALSE(with.client.is_quiet());
    }
    SECTION("a part of what was read together") {
        REQUIRE(with.write(with.server, std::string(17, 'x')) == error_code{});
        CHECK(with.read_some(with.client) == error_code{});
        CHECK_FALSE(with.client.is_quiet());
    }
    SECTION("a record that was read together with the one before") {
        REQUIRE(with.write(with.server, std::string(16, 'x')) == error_code{});
        REQUIRE(with.write(with.server, "unasked") == error_code{});
        CHECK(with.read_some(with.client) == error_code{});
        CHECK_FALSE(with.client.is_quiet());
    }
    SECTION("the end") {
        with.server.close();
        CHECK_FALSE(with.client.is_quiet());
    }
}

TEST_CASE("a connection with TLS is moved, and goes while nothing is pending") {
    shaken_scene with;
    timed_stream moved{std::move(with.client)};
    CHECK(moved.has_tls());
    CHECK(with.write(moved, "x") == error_code{});
    CHECK(with.read_some(with.server) == error_code{});
}

TEST_CASE("a connection with TLS that another takes the place of says that nothing more comes") {
    shaken_scene other;
    shaken_scene with;
    with.client = std::move(other.client);
    CHECK(with.read_some(with.server) == net::error::eof);
}

TEST_CASE("a connection with TLS goes to another thread, with what has come for it") {
    shaken_scene with;
    REQUIRE(with.write(with.server, std::string(20, 'x')) == error_code{});
    REQUIRE(with.write(with.server, "and more") == error_code{});
    CHECK(with.read_some(with.client) == error_code{});  // 16 of them: the rest is decrypted, or on its way
    auto released = std::move(with.client).release();
    detached_socket moved{released.socket};
    std::string came(12, ' ');
    std::thread{[&] {
        net::io_context io{1};
        timed_stream taker{*moved.attach(io), std::move(released.tls)};
        taker.expires_after(10s);
        outcome read;
        net::async_read(taker, net::buffer(came), read.handler());
        while (!read.error && io.run_one_for(10s) != 0) continue;
        outcome written;
        net::async_write(taker, net::buffer("answer", 6), written.handler());
        io.restart();
        while (!written.error && io.run_one_for(10s) != 0) continue;
    }}.join();
    CHECK(came == "xxxxand more");
    CHECK(with.read_some(with.server) == error_code{});
    CHECK(with.read_some(with.server) == net::error::eof);  // it has gone, and has said so
}

TEST_CASE("a name that no server can have is why no connection opens, at each of its addresses") {
    net::io_context io{1};
    stream_acceptor acceptor = listen_on_loopback(io);
    const stream_endpoint at = acceptor.local_endpoint();
    const std::string name(300, 'x');
    std::size_t tries = 0;
    const session_maker make_session = [&, context = made(asking())] {
        ++tries;
        return std::make_unique<tls_session>(context, name);
    };
    std::optional<timed_stream> stream;
    std::optional<std::string> fault;
    net::co_spawn(
        io,
        [&]() -> net::awaitable<void> {
            const std::vector<stream_endpoint> twice{at, at};
            fault = co_await open_first(io, twice, make_session, timed_stream::clock::now() + 10s, stream);
        },
        net::detached);
    while (!fault && io.run_one_for(10s) != 0) continue;
    REQUIRE(fault.has_value());
    CHECK(fault->starts_with("TLS with " + endpoint_text(at) + ": " + name));
    CHECK_FALSE(stream.has_value());
    CHECK(tries == 2);
}

}  // namespace
}  // namespace seriesgate::testing::tls_test
