#include "http/sparse_log.hpp"

#include "support/catch.hpp"

using namespace seriesgate;
using namespace std::chrono_literals;

TEST_CASE("events are told at once, then at most every ten seconds, none forgotten") {
    sparse_log log;
    const auto start = std::chrono::steady_clock::time_point{} + 1h;
    CHECK(log.count(5, start) == 5);
    CHECK_FALSE(log.count(7, start + 1s));
    CHECK_FALSE(log.count(1, start + sparse_log::interval - 1ns));
    CHECK(log.count(2, start + sparse_log::interval) == 10);
    CHECK_FALSE(log.count(1, start + sparse_log::interval + 1s));
}
