// Hours, days and clocks.
#include "limit/figures.hpp"
#include "limit/limiter.hpp"
#include "limit/offering.hpp"
#include "support/catch.hpp"
#include "support/near.hpp"

using namespace std::chrono_literals;
using std::chrono::days;
using std::chrono::sys_days;
using std::chrono::year;
using namespace seriesgate;
using namespace seriesgate::testing;

namespace limiter_windows_test {
namespace {

constexpr auto first_day = sys_days{year{2026} / 3 / 10};

/// No grace: what these tests are about shows at once.
const limit_rules ten_an_hour{.global = {.hourly = 10}, .incumbent_grace = 0s};
const limit_rules ten_a_day{.global = {.daily = 10}, .incumbent_grace = 0s};

}  // namespace

TEST_CASE("an hour's budget starts anew with the hour") {
    offering gate{ten_an_hour, at(10)};
    CHECK(gate.offer(series(0, 30), at(10)) == verdict_counts{.accepted = 10, .refused_hourly = 20});
    CHECK(gate.offer(series(0, 30), at(10, 59, 59)) == verdict_counts{.accepted = 10, .refused_hourly = 20});
    // Those that were refused, and remembered for it, come first now.
    CHECK(gate.accepted(series(10, 10), at(11)) == 10);
    CHECK(gate.offer(series(0, 10), at(11)) == verdict_counts{.refused_hourly = 10});
    CHECK(gate.hourly().span == window_span{first_day + 11h, first_day + 12h});
    CHECK(gate.hourly() == counts{.current = 10, .refused = 10, .samples_refused = 10});
    CHECK(gate.daily().series_current == 20);
}

TEST_CASE("a day's budget starts anew with the day") {
    offering gate{ten_a_day, at(22)};
    CHECK(gate.offer(series(0, 30), at(22)) == verdict_counts{.accepted = 10, .refused_daily = 20});
    CHECK(gate.offer(series(0, 30), at(23)) == verdict_counts{.accepted = 10, .refused_daily = 20});
    CHECK(gate.daily().span == window_span{first_day, first_day + days{1}});
    CHECK(gate.accepted(series(20, 10), at(0, 0, 0, 1)) == 10);
    CHECK(gate.offer(series(0, 10), at(0, 0, 0, 1)) == verdict_counts{.refused_daily = 10});
    CHECK(gate.daily().span == window_span{first_day + days{1}, first_day + days{2}});
    CHECK(gate.daily() == counts{.current = 10, .refused = 10, .samples_refused = 10});
}

TEST_CASE("the first nanosecond of an hour belongs to it, the last of the one before does not") {
    offering gate{ten_an_hour, at(10)};
    gate.offer(series(0, 10), at(10));
    CHECK(gate.accepted(series(10, 1), at(11) - 1ns) == 0);
    CHECK(gate.accepted(series(10, 1), at(11)) == 1);
}

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

TEST_CASE("years and leap days change nothing") {
    const auto start = GENERATE(sys_days{year{2026} / 12 / 31} + 23h, sys_days{year{2028} / 2 / 28} + 23h,
                                sys_days{year{2028} / 2 / 29} + 23h, sys_days{year{2100} / 2 / 28} + 23h);
    offering gate{{.global = {.hourly = 10, .daily = 10}, .incumbent_grace = 0s}, start};
    CHECK(gate.accepted(series(0, 20), start + 59min) == 10);
    CHECK(gate.accepted(series(10, 20), start + 1h) == 10);
    CHECK(gate.daily().span == window_span{start + 1h, start + 25h});
    CHECK(gate.accepted(series(20, 20), start + 2h) == 0);
}

TEST_CASE("hours in which nothing happened are skipped") {
    offering gate{{.global = {.hourly = 10, .daily = 25}, .incumbent_grace = 0s}, at(10)};
    gate.offer(series(0, 10), at(10));
    leap(gate.limiter, at(14, 30));
    CHECK(gate.offer(series(0, 20), at(14, 30)).accepted == 10);
    CHECK(gate.hourly().span.start == first_day + 14h);
    CHECK(gate.daily().series_current == 10);
    leap(gate.limiter, at(3, 0, 0, 7));
    CHECK(gate.accepted(series(100, 20), at(3, 0, 0, 7)) == 10);
    CHECK(gate.daily().span.start == first_day + days{7});
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

TEST_CASE("a clock set back over midnight does not open the day's budget again") {
    offering gate{ten_a_day, at(0, 5, 0, 1)};
    gate.offer(series(0, 20), at(0, 5, 0, 1));
    CHECK(gate.offer(series(0, 20), at(23, 50)) == verdict_counts{.accepted = 10, .refused_daily = 10});
    CHECK(gate.daily().span.start == first_day + days{1});
    CHECK(gate.offer(series(0, 20), at(0, 5, 0, 1)) == verdict_counts{.accepted = 10, .refused_daily = 10});
}

TEST_CASE("a clock set back by more starts afresh in the hour it leads to") {
    offering gate{{.global = {.hourly = 10, .daily = 30}, .incumbent_grace = 10min}, at(10, 5)};
    gate.offer(series(0, 20), at(10, 5));
    leap(gate.limiter, at(8, 54, 59));
    CHECK(gate.accepted(series(10, 20), at(8, 59, 59)) == 10);
    CHECK(gate.hourly().span == window_span{first_day + 8h, first_day + 9h});
    CHECK(gate.hourly().series_current == 10);
    CHECK(gate.daily().series_current == 20);  // the same day goes on
    // Into another day: that starts afresh too.
    leap(gate.limiter, at(12, 0, 0, -3));
    CHECK(gate.accepted(series(500, 20), at(12, 0, 0, -3)) == 10);
    CHECK(gate.daily().series_current == 10);
    CHECK(gate.daily().span.start == first_day - days{3});
}

TEST_CASE("a clock set forward for good goes to the hour it leads to, and back again") {
    offering gate{ten_an_hour, at(10)};
    gate.offer(series(0, 20), at(10));
    leap(gate.limiter, at(10, 0, 0, 400));
    CHECK(gate.accepted(series(10, 10), at(10, 5, 0, 400)) == 10);
    CHECK(gate.hourly().span.start == first_day + days{400} + 10h);
    leap(gate.limiter, at(10, 0, 1));
    CHECK(gate.accepted(series(0, 10), at(10, 5, 1)) == 10);
    CHECK(gate.hourly().span.start == first_day + 10h);
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

TEST_CASE("a request of the hour before that comes late is decided in the running hour") {
    offering gate{ten_an_hour, at(10)};
    gate.offer(series(0, 10), at(10));
    gate.offer(series(10, 4), at(11));
    CHECK(gate.accepted(series(0, 10), at(10, 59, 59)) == 6);
    CHECK(gate.hourly().series_current == 10);
    CHECK(gate.hourly().span.start == first_day + 11h);
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
