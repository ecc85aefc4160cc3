#include "process/supervision.hpp"

#include "support/catch.hpp"

using namespace seriesgate;
using namespace std::chrono_literals;

TEST_CASE("the time that is waited for a sign of life is for the process it names, or for any") {
    CHECK(watchdog_limit("30000000", "", "17") == 30s);
    CHECK(watchdog_limit("30000000", "17", "17") == 30s);
    CHECK_FALSE(watchdog_limit("30000000", "18", "17"));
}

TEST_CASE("what is no number of microseconds is no time") {
    for (const char* text : {"", "0", "-5", "30s", "3e7", " 1", "99999999999999999999"})
        CHECK_FALSE(watchdog_limit(text, "", "17"));
}

TEST_CASE("there is a sign of life four times in that time, while no worker is late by half of it") {
    const watchdog at{8s};
    CHECK(at.interval() == 2s);
    const std::chrono::steady_clock::time_point now{100s};
    CHECK(at.is_alive(now, now));
    CHECK(at.is_alive(now - 4s, now));
    CHECK_FALSE(at.is_alive(now - 4001ms, now));
    CHECK(at.is_alive(std::chrono::steady_clock::time_point::max(), now));
}
