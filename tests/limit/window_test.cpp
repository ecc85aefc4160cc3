#include "limit/window.hpp"

#include "support/catch.hpp"

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
    const auto last_day = sys_days{year{2026} / 12 / 31};
    const auto leap_day = sys_days{year{2028} / 2 / 29};
    const auto no_leap_day = sys_days{year{2100} / 2 / 28};
    const auto [moment, its_day, hour] = GENERATE_COPY(table<time_point, sys_days, hours>({
        {day + 12h, day, 12h},
        {day + 12h + 1ns, day, 12h},
        {day + 12h + 59min, day, 12h},
        {day + 13h - 1s, day, 12h},
        {day + 13h - 1ns, day, 12h},
        {day + 24h - 1ns, day, 23h},
        {day + 24h, day + days{1}, 0h},
        {last_day + 24h - 1ns, last_day, 23h},
        {last_day + 24h, sys_days{year{2027} / 1 / 1}, 0h},
        {leap_day - 1ns, leap_day - days{1}, 23h},
        {leap_day + 13h, leap_day, 13h},
        {leap_day + 24h, sys_days{year{2028} / 3 / 1}, 0h},
        {no_leap_day + 24h, sys_days{year{2100} / 3 / 1}, 0h},
    }));
    CHECK(hour_of(moment) == window_span{its_day + hour, its_day + hour + 1h});
    CHECK(day_of(moment) == window_span{its_day, its_day + days{1}});
}

TEST_CASE("every day has 24 hours") {
    for (auto day = sys_days{year{2026} / 1 / 1}; day < sys_days{year{2029} / 1 / 1}; day += days{1}) {
        const auto span = day_of(day + 11h);
        auto hour = hour_of(span.start);
        for (int i = 1; i < 24; ++i) hour = hour_of(hour.end);
        if (hour.end != span.end) FAIL("day " << day.time_since_epoch().count());
    }
}
