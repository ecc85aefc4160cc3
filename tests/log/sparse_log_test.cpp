#include "log/sparse_log.hpp"

#include "support/catch.hpp"

using namespace seriesgate;
using namespace std::chrono_literals;

TEST_CASE("events are told at once, then at most every ten seconds, none forgotten") {
    sparse_log log;
    const auto start = std::chrono::steady_clock::time_point{} + 1h;
    CHECK(log.count(5, start) == 5);
    CHECK_FALSE(log.count(7, start + 1s));
    CHECK_FALSE(log.count(1, start + 10s - 1ns));
    CHECK(log.count(2, start + 10s) == 10);
    CHECK_FALSE(log.count(1, start + 11s));
}

TEST_CASE("the interval is whoever's who makes it") {
    sparse_log log{1min};
    const auto start = std::chrono::steady_clock::time_point{} + 1h;
    CHECK(log.count(1, start) == 1);
    CHECK_FALSE(log.count(1, start + 60s - 1ns));
    CHECK(log.count(1, start + 60s) == 2);
}

TEST_CASE("the last events are told without a further one, when it is time, and once") {
    sparse_log log{1min};
    const auto start = std::chrono::steady_clock::time_point{} + 1h;
    CHECK_FALSE(log.rest(start));
    CHECK(log.count(1, start) == 1);
    CHECK_FALSE(log.rest(start + 2min));
    CHECK(log.count(66, start + 2min) == 66);
    CHECK_FALSE(log.count(3, start + 2min + 1s));
    CHECK_FALSE(log.rest(start + 4min - 1ns));
    CHECK(log.rest(start + 4min) == 3);
    CHECK_FALSE(log.rest(start + 9min));
}

TEST_CASE("events that go on, however slowly, have lines of their own") {
    for (const auto gap : {3s, 7s, 10s, 11s, 25s}) {
        sparse_log log;
        const auto start = std::chrono::steady_clock::time_point{} + 1h;
        std::uint64_t told = 0;
        std::uint64_t events = 0;
        for (auto now = start; now < start + 10min; now += 1s) {
            if ((now - start) % gap == 0s) {
                ++events;
                told += log.count(1, now).value_or(0);
            }
            CHECK_FALSE(log.rest(now));
        }
        CHECK(told >= events - 3);
    }
}
