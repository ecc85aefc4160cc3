#include "upstream/name_health.hpp"

#include <boost/asio/error.hpp>

#include "support/catch.hpp"

using namespace seriesgate;
using namespace std::chrono_literals;

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
