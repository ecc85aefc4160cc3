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

TEST_CASE("an exemplar passes with its sample, before or after it in the request") {
    offering gate{{.global = {.hourly = 1}}, at(10)};
    const auto exemplar = [](std::uint64_t index) { return offered_series{.fingerprint = fingerprint_of(index)}; };
    const auto sample = series(1, 1)[0];
    const auto refused = series(2, 1)[0];
    SECTION("before") {
        CHECK(gate.offer(std::vector{exemplar(1), sample}, at(10)) == verdict_counts{.accepted = 2});
    }
    SECTION("after") {
        CHECK(gate.offer(std::vector{sample, exemplar(1)}, at(10)) == verdict_counts{.accepted = 2});
    }
    SECTION("with one of a refused series around it") {
        gate.offer(std::vector{exemplar(2), exemplar(1), sample, refused, exemplar(2), exemplar(1)}, at(10));
        CHECK(gate.verdicts == std::vector{verdict::unknown, verdict::known, verdict::admitted, verdict::refused_hourly,
                                           verdict::unknown, verdict::known});
    }
    CHECK(gate.hourly().series_current == 1);
}
