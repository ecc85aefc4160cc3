#include "upstream/backend_client.hpp"

#include <deque>

#include "support/catch.hpp"
#include "support/loopback.hpp"

namespace seriesgate::testing::pool_test {
namespace {

struct scene {
    net::io_context io{1};
    gauge open;
    std::deque<stream_socket> peers;
    connection_pool pool;
    connection_pool::clock::time_point now = connection_pool::clock::now();

    upstream_connection connect() {
        auto pair = connect_loopback(io);
        peers.push_back(std::move(pair.far));
        upstream_connection made{std::move(pair.near), open};
        made.stream.expires_after(1h);
        return made;
    }
    /// @return where it leads; each has a listener of its own
    stream_endpoint give(std::chrono::seconds later = 0s) {
        upstream_connection made = connect();
        const stream_endpoint where = made.stream.peer();
        pool.give(std::move(made), now += later);
        return where;
    }
    /// @return the same of what is taken; nowhere if there is none
    stream_endpoint take() {
        const auto taken = pool.take();
        return taken ? taken->stream.peer() : stream_endpoint{};
    }
};

TEST_CASE("an open connection counts for as long as it lives") {
    scene with;
    {
        upstream_connection one = with.connect();
        upstream_connection moved{std::move(one)};
        CHECK(with.open.value() == 1);
        with.pool.give(std::move(moved));
        CHECK(with.open.value() == 1);
    }
    with.pool.take().reset();
    CHECK(with.open.value() == 0);
}

TEST_CASE("what came last goes first") {
    scene with;
    const auto first = with.give();
    const auto second = with.give();
    CHECK(with.take() == second);
    CHECK(with.take() == first);
    CHECK_FALSE(with.pool.take().has_value());
}

TEST_CASE("a connection has no time limit in the pool") {
    scene with;
    with.give();
    const auto taken = with.pool.take();
    REQUIRE(taken.has_value());
    CHECK_FALSE(taken->stream.has_limit());
    CHECK(taken->stream.expired());
}

TEST_CASE("a connection that was closed, or has spoken, is not taken") {
    scene with;
    const auto usable = with.give();
    with.give();
    SECTION("closed") {
        with.peers.back().close();
    }
    SECTION("reset") {
        with.peers.back().set_option(net::socket_base::linger{true, 0});
        with.peers.back().close();
    }
    SECTION("spoken") {
        net::write(with.peers.back(), net::buffer("HTTP/1.1 408 Request Timeout\r\n\r\n", 32));
    }
    CHECK(with.take() == usable);
    CHECK(with.open.value() == 0);
    CHECK(with.pool.size() == 0);
}

TEST_CASE("what has been idle for longer than it may is closed, the oldest first") {
    scene with;
    with.give();
    with.give(10s);
    const auto youngest = with.give(10s);
    with.pool.close_idle(20s, with.now);
    CHECK(with.pool.size() == 3);
    with.pool.close_idle(20s, with.now + 1s);
    CHECK(with.pool.size() == 2);
    with.pool.close_idle(20s, with.now + 11s);
    CHECK(with.pool.size() == 1);
    CHECK(with.open.value() == 1);
    CHECK(with.take() == youngest);
}

TEST_CASE("what leads to an address that there is no more is closed") {
    scene with;
    for (const auto port : std::vector<std::uint16_t>{1, 2, 1}) {
        upstream_connection made = with.connect();
        made.at = tcp_endpoint(net::ip::address_v4::loopback(), port);
        with.pool.give(std::move(made), with.now);
    }
    with.pool.close_others({tcp_endpoint(net::ip::address_v4::loopback(), 1)}, nullptr);
    CHECK(with.pool.size() == 2);
    CHECK(with.open.value() == 2);
}

TEST_CASE("no more are kept than the bound") {
    scene with;
    for (std::size_t i = 0; i < connection_pool::idle_max + 2; ++i) with.give();
    CHECK(with.pool.size() == connection_pool::idle_max);
    CHECK(with.open.value() == static_cast<std::int64_t>(connection_pool::idle_max));
}

TEST_CASE("a request is tried again only if a pooled connection broke before all of it had arrived") {
    using enum attempt_end;
    using enum connection_origin;
    struct row {
        attempt_end end;
        connection_origin origin;
        std::optional<upstream_error_reason> gives_up;
    };
    const auto [end, origin, gives_up] = GENERATE(values<row>({
        {unread, pooled, std::nullopt},
        {unread, opened, upstream_error_reason::connection_lost},
        {unanswered, pooled, upstream_error_reason::connection_lost},
        {unanswered, opened, upstream_error_reason::connection_lost},
        {broken_amid, pooled, upstream_error_reason::connection_lost},
        {broken_amid, opened, upstream_error_reason::connection_lost},
        {invalid, pooled, upstream_error_reason::invalid_answer},
        {invalid, opened, upstream_error_reason::invalid_answer},
        {timed_out, pooled, upstream_error_reason::timeout},
        {timed_out, opened, upstream_error_reason::timeout},
    }));
    CAPTURE(static_cast<int>(end), static_cast<int>(origin));
    CHECK((reason_to_give_up(end, origin) == gives_up));
}

}  // namespace
}  // namespace seriesgate::testing::pool_test
