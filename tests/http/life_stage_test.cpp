#include "http/life_stage.hpp"

#include "support/catch.hpp"

using namespace seriesgate;

TEST_CASE("a process starts, is ready, and drains") {
    process_life life;
    CHECK(life.stage() == life_stage::starting);
    life.become_ready();
    CHECK(life.stage() == life_stage::ready);
    CHECK_FALSE(life.draining());
    life.drain();
    CHECK(life.draining());
}

TEST_CASE("a process that drains is never ready again, also if it has never been") {
    process_life life;
    life.drain();
    life.become_ready();
    CHECK(life.stage() == life_stage::draining);
}
