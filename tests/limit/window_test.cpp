#include "limit/window.hpp"

#include "support/catch.hpp"

using namespace std::chrono_literals;
using seriesgate::day_of;
using seriesgate::hour_of;
using seriesgate::time_point;
using seriesgate::window_span;
using std::chrono::days;
using std::chrono::hours;
using std::chrono::sys_days;
using std::chrono::year;

TEST_CASE("windows are the UTC hour and the UTC day") {
    const auto day = sys_days{year{2026} / 3 / 10};
    const auto noon = day + hours{12};
    const auto moment =
        GENERATE_COPY(values<time_point>({noon, noon + 1ns, noon + 59min, noon + 1h - 1s, noon + 1h - 1ns}));
    CHECK(hour_of(moment) == window_span{noon, noon + 1h});
    CHECK(day_of(moment) == window_span{day, day + days{1}});
}

TEST_CASE("the end of a window is the start of the next") {
    const time_point midnight = sys_days{year{2026} / 3 / 11};
    CHECK(hour_of(midnight - 1ns).end == hour_of(midnight).start);
    CHECK(day_of(midnight - 1ns).end == day_of(midnight).start);
    CHECK(day_of(midnight).start == midnight);
    CHECK(day_of(midnight - 1ns).start == midnight - days{1});
}

TEST_CASE("a year ends between two hours like any other") {
    const time_point last = sys_days{year{2026} / 12 / 31} + 23h + 59min + 59s + 999'999'999ns;
    CHECK(hour_of(last).start == sys_days{year{2026} / 12 / 31} + 23h);
    CHECK(hour_of(last).end == sys_days{year{2027} / 1 / 1});
    CHECK(day_of(last) == window_span{sys_days{year{2026} / 12 / 31}, sys_days{year{2027} / 1 / 1}});
    CHECK(day_of(last + 1ns).start == sys_days{year{2027} / 1 / 1});
}

TEST_CASE("a leap day is a day") {
    const time_point leap = sys_days{year{2028} / 2 / 29} + 13h;
    CHECK(day_of(leap) == window_span{sys_days{year{2028} / 2 / 29}, sys_days{year{2028} / 3 / 1}});
    CHECK(day_of(leap - days{1}).end == sys_days{year{2028} / 2 / 29});
    const time_point no_leap = sys_days{year{2100} / 2 / 28} + 23h;
    CHECK(day_of(no_leap).end == sys_days{year{2100} / 3 / 1});
}

TEST_CASE("every day has 24 hours") {
    for (auto day = sys_days{year{2026} / 1 / 1}; day < sys_days{year{2029} / 1 / 1}; day += days{1}) {
        const auto span = day_of(day + 11h);
        auto hour = hour_of(span.start);
        for (int i = 1; i < 24; ++i) hour = hour_of(hour.end);
        if (hour.end != span.end) FAIL("day " << day.time_since_epoch().count());
    }
}
