#include "fleet/fleet_clock.hpp"

#include "support/catch.hpp"

namespace seriesgate {
namespace {

using namespace std::chrono_literals;

constexpr time_point own = std::chrono::sys_days{std::chrono::year{2026} / 3 / 10} + 7h;
constexpr time_point store = std::chrono::sys_days{std::chrono::year{2026} / 3 / 11} + 12h + 30min;
constexpr fleet_clock::steady_point start{1000s};

TEST_CASE("until the store has been heard the time is the gate's own", "[fleet]") {
    const fleet_clock clock;
    CHECK_FALSE(clock.has_heard());
    CHECK(clock.now(start, own) == own);
}

TEST_CASE("the store's time is carried on by the steady clock, whatever the own one says", "[fleet]") {
    fleet_clock clock;
    clock.hear(store, start);
    CHECK(clock.has_heard());
    CHECK(clock.now(start + 10s, own) == store + 10s);
    CHECK(clock.now(start + 10s, own + 24h) == store + 10s);
    CHECK(clock.until_hour_ends(start + 10s) == 29min + 50s);
}

TEST_CASE("no hour begins that the store has not been heard in", "[fleet]") {
    fleet_clock clock;
    clock.hear(store, start);
    CHECK(clock.now(start + 30min - 1ns, own) == store + 30min - 1ns);
    CHECK(clock.now(start + 30min, own) == store + 30min - 1ns);
    CHECK(clock.now(start + 5h, own) == store + 30min - 1ns);
    CHECK(clock.until_hour_ends(start + 31min) == -1min);
    clock.hear(store + 5h, start + 5h);
    CHECK(clock.now(start + 5h, own) == store + 5h);
}

TEST_CASE("a store whose clock steps back does not take back an hour that has begun", "[fleet]") {
    fleet_clock clock;
    clock.hear(store + 31min, start);
    clock.hear(store + 29min, start + 1s);
    CHECK(clock.now(start + 1s, own) == store + 29min);  // the limiter stays in the hour that it is in
    CHECK(clock.now(start + 3min, own) == store + 32min - 1s);
}

}  // namespace
}  // namespace seriesgate
