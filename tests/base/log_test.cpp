#include "base/log.hpp"

#include "support/captured_log.hpp"
#include "support/catch.hpp"

using namespace std::chrono_literals;
using namespace seriesgate;
using seriesgate::testing::captured_log;

TEST_CASE("an event is written as one line, from the level upwards that is set") {
    const captured_log said;
    log::debug("not said");
    log::info("said", {{"n", 1}});
    log::set_up(log::format::logfmt, log::level::error);
    log::warn("not said");
    log::error("said", {{"n", 2}});
    log::set_up(log::format::logfmt, log::level::debug);
    log::debug("said", {{"n", 3}});
    log::set_up(log::format::logfmt, log::level::info);
    CHECK(said.text() == "level=info msg=said n=1\nlevel=error msg=said n=2\nlevel=debug msg=said n=3\n");
}

TEST_CASE("the form changes from one line to the next") {
    const captured_log said;
    log::set_up(log::format::json, log::level::info);
    log::info("level=one");
    log::set_up(log::format::logfmt, log::level::info);
    log::info("two");
    CHECK(said.text() == "level=one\"}\nlevel=info msg=two\n");
}

TEST_CASE("a placeholder of the library's in a value is no more than its characters") {
    const captured_log said;
    log::info("x", {{"v", "{} {0} %v"}});
    CHECK(said.text() == "level=info msg=x v=\"{} {0} %v\"\n");
}

TEST_CASE("events are told at once, then at most every ten seconds, none forgotten") {
    throttled_log log;
    const auto start = std::chrono::steady_clock::time_point{} + 1h;
    CHECK(log.count(5, start) == 5);
    CHECK_FALSE(log.count(7, start + 1s));
    CHECK_FALSE(log.count(1, start + 10s - 1ns));
    CHECK(log.count(2, start + 10s) == 10);
    CHECK_FALSE(log.count(1, start + 11s));
}

TEST_CASE("the interval is whoever's who makes it") {
    throttled_log log{1min};
    const auto start = std::chrono::steady_clock::time_point{} + 1h;
    CHECK(log.count(1, start) == 1);
    CHECK_FALSE(log.count(1, start + 60s - 1ns));
    CHECK(log.count(1, start + 60s) == 2);
}

TEST_CASE("the last events are told without a further one, when it is time, and once") {
    throttled_log log{1min};
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
        throttled_log log;
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
