#include "upstream/upstream_health.hpp"

#include <boost/asio/error.hpp>
#include <boost/beast/core/error.hpp>

#include "support/catch.hpp"

using namespace std::chrono_literals;
using namespace seriesgate;

namespace upstream_health_test {
namespace {

constexpr auto start = upstream_health::clock::time_point{} + 1h;
constexpr auto refused = upstream_error_reason::connection_refused;
constexpr auto timeout = upstream_error_reason::timeout;

/// The requests that a line for this reason is due for.
std::optional<std::uint64_t> rest(upstream_health& health, upstream_error_reason wanted,
                                  upstream_health::clock::time_point now) {
    std::optional<std::uint64_t> found;
    health.rest(
        [&](upstream_error_reason reason, std::uint64_t requests) {
            if (reason == wanted) found = requests;
        },
        now);
    return found;
}

}  // namespace

TEST_CASE("requests without an answer are told at once, then every ten seconds, each reason by itself") {
    upstream_health health;
    CHECK(health.failed(refused, start) == 1);
    CHECK(health.failed(timeout, start) == 1);
    CHECK_FALSE(health.failed(refused, start + 9s));
    CHECK(health.failed(refused, start + 10s) == 2);
}

TEST_CASE("those behind the last line are told of without a further one, when it is time") {
    upstream_health health;
    for (int i = 0; i < 7; ++i) health.failed(refused, start);
    CHECK_FALSE(rest(health, refused, start + 19s));
    CHECK(rest(health, refused, start + 20s) == 6);
    CHECK_FALSE(rest(health, timeout, start + 20s));
    CHECK_FALSE(rest(health, refused, start + 1h));
}

TEST_CASE("an outage that only such a line has told of has an end, too") {
    upstream_health health;
    health.failed(refused, start);
    REQUIRE(health.answered(start + 1s));
    CHECK_FALSE(health.failed(refused, start + 2s));
    CHECK(rest(health, refused, start + 20s) == 1);
    const auto ended = health.answered(start + 22s);
    REQUIRE(ended);
    CHECK(ended->lasted == 20s);
    CHECK(ended->requests == 1);
}

TEST_CASE("the end of an outage is told once, with how long it was and what it cost") {
    upstream_health health;
    CHECK_FALSE(health.answered(start));
    health.failed(refused, start);
    health.failed(refused, start + 1s);
    health.failed(timeout, start + 2s);
    const auto ended = health.answered(start + 62'500ms);
    REQUIRE(ended);
    CHECK(ended->lasted == 62'500ms);
    CHECK(ended->requests == 3);
    CHECK_FALSE(health.answered(start + 62'501ms));
}

TEST_CASE("of an outage that nobody was told of no end is told, and the next one begins anew") {
    upstream_health health;
    health.failed(refused, start);
    CHECK(health.answered(start + 1s));
    CHECK_FALSE(health.failed(refused, start + 2s));
    CHECK_FALSE(health.answered(start + 3s));
    CHECK_FALSE(health.failed(refused, start + 9s));
    CHECK(health.failed(refused, start + 12s) == 3);  // with those that were not told of
    const auto ended = health.answered(start + 13s);
    REQUIRE(ended);
    CHECK(ended->lasted == 4s);
    CHECK(ended->requests == 2);
}

}  // namespace upstream_health_test

namespace name_health_test {
namespace {

constexpr name_health::clock::time_point start{1h};

}  // namespace

TEST_CASE("a name that does not resolve is told at once, then every minute, and that it resolves again once") {
    name_health health;
    CHECK_FALSE(health.looked_up({}, start));
    CHECK(health.fault().empty());
    const auto begun = health.looked_up(net::error::host_not_found, start);
    REQUIRE(begun);
    CHECK_FALSE(begun->resolves);
    CHECK(health.fault() == error_code{net::error::host_not_found}.message());
    CHECK_FALSE(health.looked_up(net::error::host_not_found, start + 59s));
    CHECK(health.looked_up(net::error::host_not_found, start + 60s));
    const auto ended = health.looked_up({}, start + 90s);
    REQUIRE(ended);
    CHECK(ended->resolves);
    CHECK(ended->lasted == 90s);
    CHECK(health.fault().empty());
    CHECK_FALSE(health.looked_up({}, start + 91s));  // the next worker's
}

TEST_CASE("a name that fails again within the minute is told of when it is over, and its end only then") {
    name_health health;
    CHECK(health.looked_up(net::error::host_not_found, start));
    CHECK(health.looked_up({}, start + 1s));
    CHECK_FALSE(health.looked_up(net::error::host_not_found, start + 2s));
    CHECK_FALSE(health.looked_up({}, start + 3s));
    CHECK_FALSE(health.looked_up(net::error::host_not_found, start + 30s));
    CHECK(health.looked_up(net::error::host_not_found, start + 60s));
    const auto ended = health.looked_up({}, start + 61s);
    REQUIRE(ended);
    CHECK(ended->lasted == 31s);
}

}  // namespace name_health_test

TEST_CASE("a connect that fails is told by what the system says") {
    struct row {
        error_code error;
        upstream_error_reason reason;
    };
    const auto [error, reason] = GENERATE(values<row>({
        {net::error::connection_refused, upstream_error_reason::connection_refused},
        {boost::beast::error::timeout, upstream_error_reason::connect_timeout},
        {net::error::timed_out, upstream_error_reason::connect_timeout},
        {net::error::host_unreachable, upstream_error_reason::no_route},
        {net::error::network_unreachable, upstream_error_reason::no_route},
        {net::error::network_down, upstream_error_reason::no_route},
        {net::error::connection_reset, upstream_error_reason::connection_lost},
        {net::error::no_descriptors, upstream_error_reason::connect_failed},
        {net::error::access_denied, upstream_error_reason::connect_failed},
    }));
    CAPTURE(error.message());
    CHECK(name_of(reason_of_connect(error)) == name_of(reason));
}
