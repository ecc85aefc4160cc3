// Slots that are reserved for series of the hour before: what budgets_model_test.cpp seldom meets.
#include "limit/limiter.hpp"
#include "limit/offering.hpp"
#include "support/catch.hpp"

namespace seriesgate::testing::incumbents_test {
namespace {

constexpr std::uint64_t limit = 1'000;
const limit_rules hourly_limit{.global = {.hourly = limit}, .incumbent_grace = 10min};
const limit_rules daily_limit{.global = {.daily = limit}, .incumbent_grace = 10min};

const auto incumbents = series(0, limit);
/// Twice as many, never seen before.
const auto newcomers = series(1'000'000, 2 * limit);

}  // namespace

TEST_CASE("with the limit spent and twice as many newcomers first, every incumbent is admitted within the grace") {
    offering gate{hourly_limit, at(10)};
    REQUIRE(gate.accepted(incumbents, at(10)) == limit);
    const auto returning = GENERATE(values<time_point>({at(11), at(11, 5), at(11, 10) - 1ns}));

    CHECK(gate.offer(newcomers, at(11)) == verdict_counts{.refused_hourly = 2 * limit});
    CHECK(gate.offer(newcomers, returning) == verdict_counts{.refused_hourly = 2 * limit});
    CHECK(gate.accepted(incumbents, returning) == limit);
    CHECK(gate.offer(newcomers, returning) == verdict_counts{.refused_hourly = 2 * limit});
    CHECK(gate.offer(newcomers, at(11, 30)) == verdict_counts{.refused_hourly = 2 * limit});
    CHECK(gate.accepted(incumbents, at(11, 59)) == limit);
    CHECK(gate.hourly().series_current == limit);
}

TEST_CASE("another grace is that of the running hour, too") {
    limit_rules settings{.global = {.hourly = 10}, .incumbent_grace = 10min};
    offering gate{settings, at(10)};
    REQUIRE(gate.accepted(series(0, 5), at(10)) == 5);
    REQUIRE(gate.accepted(series(100, 10), at(11, 2)) == 5);
    SECTION("none") {
        settings.incumbent_grace = 0s;
        gate.limiter.reconfigure(settings);
        CHECK(gate.accepted(series(200, 10), at(11, 2)) == 5);
    }
    SECTION("a longer one") {
        settings.incumbent_grace = 30min;
        gate.limiter.reconfigure(settings);
        CHECK(gate.accepted(series(200, 10), at(11, 20)) == 0);
        CHECK(gate.accepted(series(0, 5), at(11, 20)) == 5);
    }
}

TEST_CASE("at midnight the day's budget is reserved for the last hour's series") {
    const auto settings = GENERATE(values<limit_rules>({daily_limit, {.global = {.hourly = limit, .daily = limit}}}));
    offering gate{settings, at(23)};
    REQUIRE(gate.accepted(incumbents, at(23)) == limit);
    CHECK(gate.accepted(newcomers, at(0, 0, 0, 1)) == 0);
    CHECK(gate.accepted(incumbents, at(0, 9, 59, 1)) == limit);
    CHECK(gate.accepted(newcomers, at(0, 10, 0, 1)) == 0);
    CHECK(gate.daily().series_current == limit);
    CHECK(gate.hourly().series_current == limit);
}

TEST_CASE("at midnight only the last hour's series are incumbents, not the whole day's") {
    offering gate{{.global = {.daily = limit}}, at(8)};
    gate.offer(series(0, 600), at(8));
    leap(gate.limiter, at(23));
    gate.offer(series(600, 400), at(23));
    CHECK(gate.accepted(newcomers, at(0, 0, 0, 1)) == 600);
    CHECK(gate.accepted(series(0, 600), at(0, 1, 0, 1)) == 0);
    CHECK(gate.accepted(series(600, 400), at(0, 1, 0, 1)) == 400);
    CHECK(gate.daily().series_current == limit);
}

TEST_CASE("midnight's reservation never outlasts the first hour of the day") {
    SECTION("with a grace as long as the hour") {
        offering gate{{.global = {.daily = limit}, .incumbent_grace = 1h}, at(23)};
        gate.offer(incumbents, at(23));
        CHECK(gate.accepted(newcomers, at(0, 59, 59, 1)) == 0);
        CHECK(gate.accepted(newcomers, at(1, 0, 0, 1)) == limit);
        CHECK(gate.daily().series_current == limit);
    }
    SECTION("with a clock that jumps over the end of the grace") {
        offering gate{daily_limit, at(23)};
        gate.offer(incumbents, at(23));
        CHECK(gate.accepted(newcomers, at(0, 5, 0, 1)) == 0);
        leap(gate.limiter, at(7, 30, 0, 1));
        CHECK(gate.accepted(newcomers, at(7, 30, 0, 1)) == limit);
    }
    SECTION("with an hour between that ends without a request") {
        offering gate{daily_limit, at(23)};
        gate.offer(incumbents, at(23));
        CHECK(gate.accepted(newcomers, at(0, 5, 0, 1)) == 0);
        CHECK(gate.accepted(newcomers, at(1, 5, 0, 1)) == limit);
    }
}

}  // namespace seriesgate::testing::incumbents_test
