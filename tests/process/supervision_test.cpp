#include "process/supervision.hpp"

#include "support/catch.hpp"

using namespace seriesgate;

TEST_CASE("the status says how full the hour is, what was refused, and whether the upstream answers") {
    limiter_figures figures;
    figures.hourly.series_max = 1000;
    figures.hourly.series_current = 900;
    figures.hourly.series_refused = 12;
    CHECK(status_in_words(figures, 1, 1) == "hour: 900 of 1,000 series, 12 refused; upstream up");
    CHECK(status_in_words(figures, 0, 1) == "hour: 900 of 1,000 series, 12 refused; upstream out");
    CHECK(status_in_words(figures, 2, 3) == "hour: 900 of 1,000 series, 12 refused; 2 of 3 upstreams up");
    figures.mode = limit_mode::observe;
    figures.hourly.series_max = 0;
    CHECK(status_in_words(figures, 0, 0) == "hour: 900 series, 12 would be refused; nothing is forwarded");
}
