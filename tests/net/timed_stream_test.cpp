#include "net/timed_stream.hpp"

#include "net/socket.hpp"
#include "support/catch.hpp"
#include "support/loopback.hpp"
#include "support/outcome.hpp"

using boost::beast::error;

namespace seriesgate::testing::timed_stream_test {
namespace {

/// A stream and its peer; the peer's bytes are written and read without waiting.
struct scene {
    net::io_context io{1};
    loopback_pair pair = connect_loopback(io);
    timed_stream stream{std::move(pair.near)};
    stream_socket& peer = pair.far;
    std::array<char, 16> room{};

    void peer_sends(std::string_view text) { net::write(peer, net::buffer(text)); }

    error_code read() {
        return outcome_of(io, [&](auto handler) { stream.async_read_some(net::buffer(room), handler); });
    }
    error_code write() {
        return outcome_of(io, [&](auto handler) { stream.async_write_some(net::buffer("x", 1), handler); });
    }

    /// Runs whatever there is to run, the timer's handler too, until the limit is over.
    void let_pass(std::chrono::milliseconds limit) {
        stream.expires_after(limit);
        io.restart();
        io.run_for(limit + 1ms);
    }
};

TEST_CASE("a stream that was never given a limit does nothing") {
    scene with;
    with.peer_sends("waiting to be read");
    CHECK(with.stream.expired());
    CHECK(with.read() == error::timeout);
    CHECK(with.write() == error::timeout);
    with.stream.expires_after(10s);
    CHECK(with.read() == error_code{});
}

TEST_CASE("a limit that passes while nothing is pending ends the next operation, and the one after it") {
    scene with;
    with.peer_sends("waiting to be read");
    SECTION("the timer has fired") {
        with.let_pass(1ms);
    }
    SECTION("the timer has had no chance to fire") {
        with.stream.expires_at(timed_stream::clock::now());
    }
    for (int i = 0; i < 3; ++i) {
        CHECK(with.read() == error::timeout);
        CHECK(with.write() == error::timeout);
    }
}

TEST_CASE("the peer can still be told after a limit has passed") {
    scene with;
    with.let_pass(1ms);
    with.stream.expires_after(10s);
    CHECK(with.write() == error_code{});
    std::array<char, 1> told{};
    CHECK(net::read(with.peer, net::buffer(told)) == 1);
}

TEST_CASE("a pending operation is cancelled when its limit passes") {
    scene with;
    with.stream.expires_after(1ms);
    CHECK(with.read() == error::timeout);

    // Also when the limit comes nearer, or was farther away before.
    with.stream.expires_after(1h);
    with.stream.expires_by(timed_stream::clock::now() + 1ms);
    CHECK(with.read() == error::timeout);
    with.stream.expires_after(2ms);
    with.stream.expires_after(5ms);
    CHECK(with.read() == error::timeout);
    CHECK(with.stream.expired());
}

TEST_CASE("a limit is brought forward while an operation is pending") {
    scene with;
    with.stream.expires_after(1h);
    const auto ended = outcome_of(with.io, [&](auto handler) {
        with.stream.async_read_some(net::buffer(with.room), handler);
        with.stream.expires_by(timed_stream::clock::now() + 1ms);
    });
    CHECK(ended == error::timeout);
}

TEST_CASE("many tiny operations do not outlive their limit") {
    scene with;
    with.peer_sends(std::string(100'000, 'x'));
    const auto began = timed_stream::clock::now();
    with.stream.expires_after(20ms);
    std::array<char, 1> one{};
    error_code error;
    while (!error) {
        error = outcome_of(with.io, [&](auto handler) { with.stream.async_read_some(net::buffer(one), handler); });
        with.peer_sends("x");  // there is always more
        REQUIRE(timed_stream::clock::now() - began < 10s);
    }
    CHECK(error == error::timeout);
    CHECK(timed_stream::clock::now() - began >= 20ms);
}

TEST_CASE("what has come is read within the call, and nothing is waited for") {
    scene with;
    error_code error;
    CHECK(with.stream.read_now(net::buffer(with.room), error) == 0);
    CHECK(error == error::timeout);  // no limit was given

    with.stream.expires_after(10s);
    CHECK(with.stream.read_now(net::buffer(with.room), error) == 0);
    CHECK(error == net::error::would_block);
    with.peer_sends("come");
    CHECK(with.stream.read_now(net::buffer(with.room), error) == 4);
    CHECK(error == error_code{});
    CHECK(std::string_view(with.room.data(), 4) == "come");
    with.peer.shutdown(stream_socket::shutdown_send);
    CHECK(with.stream.read_now(net::buffer(with.room), error) == 0);
    CHECK(error == net::error::eof);

    with.let_pass(1ms);
    CHECK(with.stream.read_now(net::buffer(with.room), error) == 0);
    CHECK(error == error::timeout);
}

TEST_CASE("what there is room for is written within the call, and no room is waited for") {
    scene with;
    with.stream.expires_after(10s);
    const std::string filled(64 << 20, 'x');  // the peer reads nothing of it
    error_code error;
    std::size_t written = 0;
    while (!error && written < filled.size()) written += with.stream.write_now(net::buffer(filled) + written, error);
    CHECK(error == net::error::would_block);
    CHECK(written > 0);
    CHECK(written < filled.size());
}

TEST_CASE("who never has to wait lets others have their turn") {
    scene with;
    with.stream.expires_after(10s);
    with.peer_sends(std::string(100, 'x'));
    std::array<char, 1> one{};
    const auto read_in_a_row = [&] {
        std::size_t bytes = 0;
        error_code error;
        while (!error) bytes += with.stream.read_now(net::buffer(one), error);
        CHECK(error == net::error::would_block);
        return bytes;
    };
    CHECK(read_in_a_row() == 16);
    CHECK(read_in_a_row() == 0);
    CHECK(with.read() == error_code{});  // takes 16 more
    CHECK(read_in_a_row() == 16);
}

TEST_CASE("a composed operation of many parts ends with the limit") {
    scene with;
    std::string filled(64 << 20, 'x');  // the peer reads nothing of it
    with.stream.expires_after(20ms);
    const auto ended =
        outcome_of(with.io, [&](auto handler) { net::async_write(with.stream, net::buffer(filled), handler); });
    CHECK(ended == error::timeout);
}

TEST_CASE("an old limit's timer does not end what has a later limit") {
    scene with;
    with.stream.expires_after(1ms);
    with.stream.expires_after(10s);
    const auto started = timed_stream::clock::now();
    while (timed_stream::clock::now() - started < 5ms) with.io.run_one_for(1ms);
    with.peer_sends("x");
    CHECK(with.read() == error_code{});
}

TEST_CASE("connecting needs a limit too") {
    net::io_context io{1};
    stream_acceptor acceptor = listen_on_loopback(io);
    timed_stream stream{stream_socket{io}};
    const auto connect = [&] {
        return outcome_of(io, [&](auto handler) { stream.async_connect(acceptor.local_endpoint(), handler); });
    };
    CHECK(connect() == error_code{error::timeout});
    stream.expires_after(10s);
    CHECK(connect() == error_code{});
}

TEST_CASE("a closed stream ends its operation, and not for the time") {
    scene with;
    with.stream.expires_after(10s);
    const auto ended = outcome_of(with.io, [&](auto handler) {
        with.stream.async_read_some(net::buffer(with.room), handler);
        with.stream.close();
    });
    CHECK(ended == net::error::operation_aborted);
}

TEST_CASE("a stream goes while its timer waits") {
    net::io_context io{1};
    {
        auto pair = connect_loopback(io);
        timed_stream stream{std::move(pair.near)};
        stream.expires_after(1ms);
        timed_stream moved{std::move(stream)};
        moved.expires_after(1h);
    }
    io.run_for(10s);  // over at once: nothing is left to wait for
    CHECK(io.stopped());
}

TEST_CASE("a socket is handed over in one piece") {
    scene with;
    CHECK(with.stream.peer() == with.peer.local_endpoint());
    with.stream.expires_after(1ms);
    timed_stream taker{std::move(with.stream).release().socket};
    CHECK(taker.expired());
    taker.expires_after(10s);
    with.io.restart();
    with.io.run_for(5ms);  // the old limit is nobody's
    with.peer_sends("x");
    CHECK(outcome_of(with.io, [&](auto handler) { taker.async_read_some(net::buffer(with.room), handler); }) ==
          error_code{});
}

TEST_CASE("a limit that is forgotten is none, until there is a new one") {
    scene with;
    with.peer_sends("waiting to be read");
    with.stream.expires_after(1h);
    CHECK(with.stream.has_limit());
    with.stream.forget_limit();
    CHECK_FALSE(with.stream.has_limit());
    CHECK(with.read() == error::timeout);
    with.stream.expires_after(10s);
    CHECK(with.read() == error_code{});
}

TEST_CASE("a plain shutdown tells the peer at once") {
    scene with;
    with.stream.shutdown_send();
    std::array<char, 1> room{};
    error_code error;
    net::read(with.peer, net::buffer(room), error);
    CHECK(error == net::error::eof);
}

TEST_CASE("a name that is no address is looked up while others work") {
    net::io_context io{1};
    name_resolver resolver{io};
    std::optional<error_code> ended;
    std::vector<stream_endpoint> found;
    resolver.look_up("localhost", 9201, [&](error_code error, std::vector<stream_endpoint> endpoints) {
        ended = error;
        found = std::move(endpoints);
    });
    io.run_for(10s);
    REQUIRE(ended == error_code{});
    REQUIRE_FALSE(found.empty());
    CHECK(port_of(found.front()) == 9201);
}

}  // namespace
}  // namespace seriesgate::testing::timed_stream_test
