// Hours, days and clocks, beside those of budgets_model_test.cpp.
#include "limit/figures.hpp"
#include "limit/limiter.hpp"
#include "limit/offering.hpp"
#include "support/catch.hpp"
#include "support/near.hpp"

using namespace std::chrono_literals;
using namespace seriesgate;
using namespace seriesgate::testing;

namespace limiter_windows_test {
namespace {

constexpr time_point first_day = at(0);

/// No grace: what these tests are about shows at once.
const limit_rules ten_an_hour{.global = {.hourly = 10}, .incumbent_grace = 0s};

}  // namespace

TEST_CASE("a new window begins with an empty filter") {
    offering gate{ten_an_hour, at(10)};
    gate.offer(series(0, 10), at(10));
    gate.offer({}, at(11));
    CHECK(gate.hourly().series_current == 0);
    CHECK(gate.hourly().false_positive_rate == 0);
    CHECK(gate.hourly().series_refused == 0);
    CHECK(gate.daily().series_current == 10);
}

TEST_CASE("maintenance rolls over when no request does") {
    offering gate{ten_an_hour, at(10)};
    gate.offer(series(0, 10), at(10));
    gate.limiter.maintain(at(10, 59, 59));
    CHECK(gate.hourly().series_current == 10);
    gate.limiter.maintain(at(11));
    CHECK(gate.hourly().series_current == 0);
    CHECK(gate.hourly().span.start == first_day + 11h);
    CHECK(gate.daily().series_current == 10);
}

TEST_CASE("a clock set back does not open an hour's budget again") {
    offering gate{ten_an_hour, at(10, 5)};
    gate.offer(series(0, 20), at(10, 5));
    const auto earlier = GENERATE(values<time_point>({at(10, 4, 59), at(10, 0), at(9, 59, 59), at(9, 10), at(9, 0)}));
    CHECK(gate.offer(series(0, 20), earlier) == verdict_counts{.accepted = 10, .refused_hourly = 10});
    gate.limiter.maintain(earlier);
    CHECK(gate.hourly().span.start == first_day + 10h);
    CHECK(gate.hourly().series_current == 10);
    // And when it catches up the hour still ends at eleven.
    CHECK(gate.accepted(series(10, 10), at(10, 59)) == 0);
    CHECK(gate.accepted(series(10, 10), at(11)) == 10);
}

TEST_CASE("a clock that leaps by hours and comes back has changed nothing") {
    offering gate{{.global = {.hourly = 10, .daily = 12}}, at(10, 20)};
    gate.offer(series(0, 20), at(10, 20));
    const auto there = GENERATE(values<time_point>(
        {at(12), at(12, 30), at(15), at(9, 0, 0, 1), at(10, 20, 0, 400), at(9, 19, 59), at(3), at(10, 20, 0, -2)}));
    if (hour_of(there).start == first_day + 9h && day_of(there).start == first_day) return;  // within an hour
    CHECK_FALSE(figures_of(gate.limiter).clock_in_doubt);
    for (const auto after : {0s, 1s, 299s}) {
        CHECK(gate.offer(series(0, 20), there + after) == verdict_counts{.accepted = 10, .refused_hourly = 10});
        gate.limiter.maintain(there + after);
        CHECK(figures_of(gate.limiter).clock_in_doubt);
    }
    CHECK(gate.offer(series(0, 20), at(10, 21)) == verdict_counts{.accepted = 10, .refused_hourly = 10});
    gate.limiter.maintain(at(10, 21));
    CHECK_FALSE(gate.limiter.clock_in_doubt());
    CHECK(gate.hourly().span.start == first_day + 10h);
    CHECK(gate.hourly().series_current == 10);
    CHECK(gate.daily().series_current == 10);
    CHECK(gate.offer(series(0, 20), at(11)) == verdict_counts{.accepted = 10, .refused_hourly = 10});
    CHECK_FALSE(figures_of(gate.limiter).clock_in_doubt);
}

TEST_CASE("the next window starts with room for what this one came to") {
    offering gate{{.incumbent_grace = 0s}, at(22)};
    const std::uint64_t count = 400'000;
    for (std::uint64_t first = 0; first < count; first += 2'000) {
        gate.offer(series(first, 2'000), at(22));
        gate.limiter.maintain(at(22));
    }
    const auto enough = 64 * blocks_for({count + count / 8, 0.75e-4});
    SECTION("an hour") {
        gate.limiter.maintain(at(22, 59, 30));
        gate.limiter.maintain(at(23));
        CHECK(is_near(gate.hourly().filter_bytes, enough, 0.01));
    }
    SECTION("a day") {
        gate.offer(series(0, 2'000), at(23));
        gate.limiter.maintain(at(23, 59, 30));
        gate.limiter.maintain(at(0, 0, 0, 1));
        CHECK(is_near(gate.daily().filter_bytes, enough, 0.01));
        CHECK(gate.hourly().filter_bytes < 1'000'000);  // this hour was small
    }
    SECTION("an hour that grew until its last second") {
        gate.limiter.maintain(at(22, 59, 30));
        gate.offer(series(count, 150'000), at(22, 59, 50));
        gate.limiter.maintain(at(22, 59, 51));
        gate.limiter.maintain(at(23));
        CHECK(gate.hourly().filter_bytes > 64 * blocks_for({count + 150'000, 0.75e-4}));
    }
}

TEST_CASE("with a limit a window takes no more memory than the limit needs") {
    const std::uint64_t max = 300'000;
    offering gate{{.global = {.hourly = max}, .incumbent_grace = 0s}, at(10)};
    const auto fill = [&](time_point now) {
        for (std::uint64_t first = 0; first < 2 * max; first += 2'000) {
            gate.offer(series(first, 2'000), now);
            gate.limiter.maintain(now);
        }
    };
    fill(at(10));
    CHECK(gate.hourly().series_current == max);
    CHECK(gate.hourly().false_positive_rate <= 1e-4);
    // The limit says what to start with.
    CHECK(static_cast<double>(gate.hourly().filter_bytes) / static_cast<double>(max) < 3.2);
    gate.limiter.maintain(at(10, 59, 59));
    fill(at(11));
    CHECK(gate.hourly().series_current == max);
    CHECK(gate.hourly().false_positive_rate <= 1e-4);
    CHECK(gate.hourly().filter_bytes == 64 * blocks_for({max, 0.75e-4}));
    CHECK(static_cast<double>(gate.hourly().filter_bytes) / static_cast<double>(max) < 3.2);
}

TEST_CASE("without maintenance nothing is forgotten and every window still comes") {
    offering gate{{.global = {.hourly = 200'000}, .incumbent_grace = 0s}, at(0)};
    for (int hour = 0; hour < 30; ++hour) {
        const auto now = at(hour % 24, 15, 0, hour / 24);
        const auto offered = series(static_cast<std::uint64_t>(hour) << 32, 5'000);
        CHECK(gate.accepted(offered, now) == 5'000);
        CHECK(gate.accepted(offered, now) == 5'000);
        CHECK(gate.hourly().series_current == 5'000);
    }
    CHECK(gate.daily().series_current == 30'000);
}

}  // namespace limiter_windows_test
