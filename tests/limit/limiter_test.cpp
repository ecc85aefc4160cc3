#include "limit/limiter.hpp"

#include "limit/offering.hpp"
#include "support/catch.hpp"
#include "support/near.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;

TEST_CASE("a limit admits exactly so many series, and they keep flowing") {
    const auto max = GENERATE(std::uint64_t{1}, 2, 10'000);
    offering gate{{.global = {.hourly = max}}, at(10)};
    CHECK(gate.offer(series(0, 3 * max), at(10)) == verdict_counts{.accepted = max, .refused_hourly = 2 * max});
    for (std::uint64_t i = 0; i < 3 * max; ++i)
        if (is_accepted(gate.verdicts[i]) != (i < max)) FAIL("not in order: " << i);
    for (int minute = 1; minute < 60; minute += 7) {
        CHECK(gate.accepted(series(0, max), at(10, minute)) == max);
        CHECK(gate.offer(series(max, 2 * max), at(10, minute)) == verdict_counts{.refused_hourly = 2 * max});
    }
    CHECK(gate.hourly().series_current == max);
}

TEST_CASE("a daily limit admits exactly so many series a day") {
    offering gate{{.global = {.daily = 100}}, at(10)};
    CHECK(gate.offer(series(0, 60), at(10)) == verdict_counts{.accepted = 60});
    CHECK(gate.offer(series(60, 60), at(11)) == verdict_counts{.accepted = 40, .refused_daily = 20});
    CHECK(gate.offer(series(0, 120), at(12)) == verdict_counts{.accepted = 100, .refused_daily = 20});
    CHECK(gate.daily() == counts{.current = 100, .refused = 20, .samples_refused = 40});
    CHECK(gate.hourly() == counts{.current = 100, .refused = 0});
}

TEST_CASE("without limits all is accepted and counted") {
    offering gate{{}, at(10)};
    CHECK(gate.accepted(series(0, 5'000), at(10)) == 5'000);
    CHECK(gate.accepted(series(2'500, 5'000), at(10, 30)) == 5'000);
    CHECK(gate.accepted(series(0, 10), at(11)) == 10);
    CHECK(gate.hourly() == counts{.max = 0, .current = 10});
    CHECK(gate.daily() == counts{.max = 0, .current = 7'500, .refused = 0});
}

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
    CHECK(gate.commits() == 1);
    gate.offer(series(1'999, 2), at(10, 4));
    CHECK(gate.commits() == 2);
}

TEST_CASE("stale markers take no lock, of known series or not") {
    offering gate{{.global = {.hourly = 10}}, at(10)};
    gate.offer(series(0, 20), at(10));
    CHECK(gate.commits() == 1);
    CHECK(gate.offer(stale_markers(0, 30), at(10)) == verdict_counts{.accepted = 10, .refused_unknown = 20});
    CHECK(gate.commits() == 1);
}

TEST_CASE("a series that stands several times in a request is counted once") {
    offering gate{{.global = {.hourly = 3, .daily = 3}}, at(10)};
    SECTION("admitted") {
        CHECK(gate.accepted(joined(joined(series(0, 2), series(0, 2)), series(0, 3)), at(10)) == 7);
        CHECK(gate.hourly().series_current == 3);
        CHECK(gate.daily().series_current == 3);
    }
    SECTION("refused") {
        gate.offer(series(100, 3), at(10));
        CHECK(gate.offer(joined(series(0, 2), series(0, 2)), at(10)) == verdict_counts{.refused_hourly = 4});
        CHECK(gate.hourly() == counts{.refused = 2, .samples_refused = 4});
    }
}

TEST_CASE("an hourly refusal consumes nothing of the day") {
    offering gate{{.global = {.hourly = 10, .daily = 30}}, at(10)};
    CHECK(gate.offer(series(0, 50), at(10)) == verdict_counts{.accepted = 10, .refused_hourly = 40});
    CHECK(gate.daily() == counts{.current = 10, .refused = 0, .samples_refused = 0});
    // Twenty more the day takes, ten an hour.
    CHECK(gate.accepted(series(10, 10), at(11, 30)) == 10);
    CHECK(gate.accepted(series(20, 10), at(12, 30)) == 10);
    CHECK(gate.offer(series(30, 10), at(13, 30)) == verdict_counts{.refused_daily = 10});
    CHECK(gate.daily().series_current == 30);
}

TEST_CASE("a daily refusal burns no slot of the hour") {
    offering gate{{.global = {.hourly = 10, .daily = 15}}, at(10)};
    gate.offer(series(0, 10), at(10));
    gate.offer(series(10, 5), at(11, 30));
    CHECK(gate.daily().series_current == 15);
    // The day is spent. Newcomers come first in the hour, and are refused by the day alone ...
    CHECK(gate.offer(series(100, 500), at(12, 30)) == verdict_counts{.refused_daily = 500});
    CHECK(gate.hourly() == counts{.current = 0, .refused = 0});
    // ... so that those of the day find all ten slots of the hour.
    CHECK(gate.offer(series(0, 15), at(12, 30)) == verdict_counts{.accepted = 10, .refused_hourly = 5});
    CHECK(gate.hourly().series_current == 10);
    CHECK(gate.daily().series_current == 15);
}

TEST_CASE("a series already in the day is not counted there again") {
    offering gate{{.global = {.hourly = 100, .daily = 100}}, at(0)};
    for (int hour = 0; hour < 24; ++hour) {
        CHECK(gate.accepted(series(0, 100), at(hour, 20)) == 100);
        CHECK(gate.hourly().series_current == 100);
        CHECK(gate.daily().series_current == 100);
    }
}

TEST_CASE("refusals are counted in the window that refused, samples all and series once") {
    offering gate{{.global = {.hourly = 5, .daily = 8}}, at(10)};
    auto offered = series(0, 10);
    for (auto& entry : offered) entry.samples = 7;
    for (int i = 0; i < 4; ++i) gate.offer(offered, at(10, i));
    CHECK(gate.hourly() == counts{.refused = 5, .samples_refused = 4 * 5 * 7});
    CHECK(gate.daily().series_refused == 0);

    gate.offer(series(0, 5), at(11));
    CHECK(gate.offer(offered, at(11, 30)) == verdict_counts{.accepted = 5, .refused_hourly = 5});
    CHECK(gate.hourly() == counts{.refused = 5, .samples_refused = 5 * 7});

    CHECK(gate.offer(series(5, 4), at(12, 30)) == verdict_counts{.accepted = 3, .refused_daily = 1});
    CHECK(gate.daily() == counts{.refused = 1, .samples_refused = 1});
    CHECK(gate.hourly().samples_refused == 0);
}

TEST_CASE("the estimate of refused series is within 2 %, however often they come") {
    offering gate{{.global = {.hourly = 1}}, at(10)};
    gate.offer(series(0, 1), at(10));
    for (int round = 0; round < 3; ++round)
        for (std::uint64_t first = 1; first < 100'000; first += 2'000) gate.offer(series(first, 2'000), at(10));
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
    CHECK(gate.hourly() == counts{.current = 10, .samples_refused = 2 * count});
}

TEST_CASE("figures tell the windows") {
    using namespace std::chrono_literals;
    using std::chrono::sys_days;
    offering gate{{.global = {.hourly = 100, .daily = 1'000}}, at(10, 59, 59)};
    CHECK(gate.hourly().span == window_span{sys_days{2026y / 3 / 10} + 10h, sys_days{2026y / 3 / 10} + 11h});
    CHECK(gate.daily().span == window_span{sys_days{2026y / 3 / 10}, sys_days{2026y / 3 / 11}});
    CHECK(gate.hourly() == counts{.max = 100, .current = 0});
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
    for (std::uint64_t first = 0; first < count; first += 2'000) {
        CHECK(gate.accepted(series(first, 2'000), at(10)) == 2'000);
        gate.limiter.maintain(at(10));
    }
    const auto hourly = gate.hourly();
    CAPTURE(hourly.series_current, hourly.false_positive_rate, hourly.filter_bytes);
    // At the promised rate of 0.0001 fewer than 100 are taken for known ones.
    CHECK(hourly.series_current > count - 100);
    CHECK(hourly.series_current <= count);
    // The day looks for them in other places: what it takes for known is not what the hour does.
    CHECK(gate.daily().series_current > count - 200);
    CHECK(hourly.false_positive_rate <= 1e-4);
}
