#include "ingest/texts.hpp"

#include "support/catch.hpp"

using namespace seriesgate;
using namespace std::chrono_literals;

namespace lost_log_test {
namespace {

constexpr auto start = lost_log::clock::time_point{} + 1h;

}  // namespace

TEST_CASE("what is not confirmed is told at once, then every minute, requests and samples") {
    lost_log log{1min};
    const auto first = log.count(5, start);
    REQUIRE(first);
    CHECK(first->requests == 1);
    CHECK(first->samples == 5);
    for (int i = 0; i < 66; ++i) CHECK_FALSE(log.count(10, start + 1s + std::chrono::milliseconds{i}));
    const auto next = log.count(1, start + 60s);
    REQUIRE(next);
    CHECK(next->requests == 67);
    CHECK(next->samples == 661);
}

TEST_CASE("the last that are not confirmed are told without a further one") {
    lost_log log{1min};
    CHECK_FALSE(log.rest(start));
    log.count(1, start);
    CHECK_FALSE(log.rest(start + 1h));
    log.count(0, start + 1h);
    log.count(7, start + 1h + 1s);
    CHECK_FALSE(log.rest(start + 1h + 119s));
    const auto last = log.rest(start + 1h + 120s);
    REQUIRE(last);
    CHECK(last->requests == 1);
    CHECK(last->samples == 7);
    CHECK_FALSE(log.rest(start + 3h));
}

}  // namespace lost_log_test
