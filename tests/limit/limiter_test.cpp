#include "limit/limiter.hpp"

#include "limit/commit_state.hpp"
#include "limit/figures.hpp"
#include "limit/offering.hpp"
#include "support/catch.hpp"
#include "support/near.hpp"

namespace seriesgate::testing::limiter_test {
namespace {

/// No grace: what these tests are about shows at once.
const limit_rules ten_an_hour{.global = {.hourly = 10}, .incumbent_grace = 0s};

}  // namespace

TEST_CASE("an empty request changes nothing") {
    offering gate{{.global = {.hourly = 1}}, at(10)};
    CHECK(gate.offer({}, at(10)) == verdict_counts{});
    CHECK(gate.hourly().series_current == 0);
    CHECK(gate.commits() == 0);
}

TEST_CASE("a request takes the lock once, and not at all when all its series are known or were refused") {
    offering gate{{.global = {.hourly = 1'000}}, at(10)};
    gate.offer(series(0, 2'000), at(10));
    CHECK(gate.commits() == 1);
    CHECK(gate.offer(series(0, 1'000), at(10, 1)).accepted == 1'000);
    CHECK(gate.offer(series(1'000, 1'000), at(10, 2)).refused_hourly == 1'000);
    CHECK(gate.offer(series(500, 1'000), at(10, 3)) == verdict_counts{.accepted = 500, .refused_hourly = 500});
    // Nor for stale markers, of known series or not.
    CHECK(gate.offer(joined(stale_markers(990, 20), stale_markers(5'000, 10)), at(10, 3)) ==
          verdict_counts{.accepted = 10, .refused_unknown = 20});
    CHECK(gate.commits() == 1);
    gate.offer(series(1'999, 2), at(10, 4));
    CHECK(gate.commits() == 2);
}

TEST_CASE("samples of series that were refused before change what a snapshot has") {
    offering gate{{.global = {.hourly = 1}}, at(10)};
    gate.offer(series(0, 2), at(10));
    const std::uint64_t before = gate.limiter.revision();
    gate.offer(series(0, 1), at(10, 1));
    CHECK(gate.limiter.revision() == before);
    gate.offer(series(1, 1), at(10, 2));
    CHECK(gate.hourly().samples_refused == 2);
    CHECK(gate.limiter.revision() != before);
}

TEST_CASE("the estimate of refused series is within 2 %, however often they come") {
    offering gate{{.global = {.hourly = 1}}, at(10)};
    gate.offer(series(0, 1), at(10));
    for (int round = 0; round < 3; ++round) gate.fill(1, 100'000, at(10));
    CHECK(is_near(gate.hourly().series_refused, 100'000, 0.02));
    CHECK(gate.hourly().samples_refused == 300'000);
}

TEST_CASE("more refused series than the cache remembers are refused all the same") {
    offering gate{{.global = {.hourly = 10}}, at(10)};
    gate.offer(series(0, 10), at(10));
    const std::uint64_t count = 1'000'000;
    for (int round = 0; round < 2; ++round)
        CHECK(gate.offer(series(10, count), at(10)) == verdict_counts{.refused_hourly = count});
    CHECK(gate.accepted(series(0, 10), at(10)) == 10);
    CHECK(gate.hourly() == tally{.current = 10, .samples_refused = 2 * count});
}

TEST_CASE("figures tell the windows", "[filter]") {
    offering gate{{.global = {.hourly = 100, .daily = 1'000}}, at(10, 59, 59)};
    const std::chrono::sys_days day{2026y / 3 / 10};
    CHECK(gate.hourly().span == window_span{day + 10h, day + 11h});
    CHECK(gate.daily().span == window_span{day, day + 24h});
    CHECK(gate.hourly() == tally{.max = 100, .current = 0});
    CHECK(gate.daily().series_max == 1'000);
    CHECK(gate.hourly().false_positive_rate == 0);
    CHECK(gate.hourly().filter_bytes > 0);
    gate.offer(series(0, 200), at(10, 59, 59));
    CHECK(gate.hourly().series_current == 100);
    CHECK(gate.hourly().false_positive_rate > 0);
    CHECK(gate.hourly().false_positive_rate <= 1e-4);
}

TEST_CASE("unlimited counts go beyond the first segment, exact but for the false positives") {
    offering gate{{}, at(10)};
    const std::uint64_t count = 1'000'000;
    CHECK(gate.fill(0, count, at(10)) == count);
    const auto hourly = gate.hourly();
    CAPTURE(hourly.series_current, hourly.false_positive_rate, hourly.filter_bytes);
    // At the promised rate of 0.0001 fewer than 100 are taken for known ones.
    CHECK(hourly.series_current > count - 100);
    CHECK(hourly.series_current <= count);
    // The day looks for them in other places: what it takes for known is not what the hour does.
    CHECK(gate.daily().series_current > count - 200);
    CHECK(hourly.false_positive_rate <= 1e-4);
}

TEST_CASE("a marker passes when its series is known in the previous hour, over midnight too") {
    offering gate{{.global = {.hourly = 10, .daily = 100}}, at(22)};
    gate.offer(series(100, 10), at(22));
    gate.offer(series(0, 10), at(23, 59));
    CHECK(gate.offer(stale_markers(0, 10), at(0, 0, 1, 1)) == verdict_counts{.accepted = 10});
    CHECK(gate.offer(stale_markers(0, 10), at(0, 59, 59, 1)) == verdict_counts{.accepted = 10});
    // Neither in this day nor in the hour before.
    CHECK(gate.offer(stale_markers(100, 10), at(0, 0, 1, 1)) == verdict_counts{.refused_unknown = 10});
    CHECK(gate.hourly().series_current == 0);
    CHECK(gate.daily().series_current == 0);
    CHECK(gate.offer(stale_markers(0, 10), at(1, 0, 0, 1)) == verdict_counts{.refused_unknown = 10});
}

// Hours, days and clocks, beside those of budgets_model_test.cpp.

TEST_CASE("a new window begins with an empty filter, by maintenance when no request comes") {
    offering gate{ten_an_hour, at(10)};
    gate.offer(series(0, 10), at(10));
    gate.limiter.maintain(at(10, 59, 59));
    CHECK(gate.hourly().series_current == 10);
    if (GENERATE(false, true))
        gate.limiter.maintain(at(11));
    else
        gate.offer({}, at(11));
    CHECK(gate.hourly() == tally{.current = 0, .refused = 0});
    CHECK(gate.hourly().false_positive_rate == 0);
    CHECK(gate.hourly().span.start == at(11));
    CHECK(gate.daily().series_current == 10);
}

TEST_CASE("a clock set back does not open an hour's budget again") {
    offering gate{ten_an_hour, at(10, 5)};
    gate.offer(series(0, 20), at(10, 5));
    const auto earlier = GENERATE(values<time_point>({at(10, 4, 59), at(10, 0), at(9, 59, 59), at(9, 10), at(9, 0)}));
    CHECK(gate.offer(series(0, 20), earlier) == verdict_counts{.accepted = 10, .refused_hourly = 10});
    gate.limiter.maintain(earlier);
    CHECK(gate.hourly().span.start == at(10));
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
    if (hour_of(there).start == at(9) && day_of(there).start == at(0)) return;  // within an hour
    CHECK_FALSE(figures_of(gate.limiter).clock_in_doubt);
    for (const auto after : {0s, 1s, 299s}) {
        CHECK(gate.offer(series(0, 20), there + after) == verdict_counts{.accepted = 10, .refused_hourly = 10});
        gate.limiter.maintain(there + after);
        CHECK(figures_of(gate.limiter).clock_in_doubt);
    }
    CHECK(gate.offer(series(0, 20), at(10, 21)) == verdict_counts{.accepted = 10, .refused_hourly = 10});
    gate.limiter.maintain(at(10, 21));
    CHECK_FALSE(gate.limiter.sets()->leap.has_value());
    CHECK(gate.hourly().span.start == at(10));
    CHECK(gate.hourly().series_current == 10);
    CHECK(gate.daily().series_current == 10);
    CHECK(gate.offer(series(0, 20), at(11)) == verdict_counts{.accepted = 10, .refused_hourly = 10});
    CHECK_FALSE(figures_of(gate.limiter).clock_in_doubt);
}

TEST_CASE("the next window starts with room for what this one came to", "[filter]") {
    offering gate{{.incumbent_grace = 0s}, at(22)};
    const std::uint64_t count = 400'000;
    gate.fill(0, count, at(22));
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

TEST_CASE("with a limit a window takes no more memory than the limit needs", "[filter]") {
    const std::uint64_t max = 300'000;
    offering gate{{.global = {.hourly = max}, .incumbent_grace = 0s}, at(10)};
    gate.fill(0, 2 * max, at(10));
    CHECK(gate.hourly().series_current == max);
    CHECK(gate.hourly().false_positive_rate <= 1e-4);
    // The limit says what to start with.
    CHECK(static_cast<double>(gate.hourly().filter_bytes) / static_cast<double>(max) < 3.2);
    gate.limiter.maintain(at(10, 59, 59));
    gate.fill(0, 2 * max, at(11));
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

}  // namespace seriesgate::testing::limiter_test
