#include "http/worker.hpp"

#include "support/catch.hpp"

using namespace seriesgate;

TEST_CASE("a process starts, is ready, and drains") {
    lifecycle life;
    CHECK(life.stage() == lifecycle_state::starting);
    life.become_ready();
    CHECK(life.stage() == lifecycle_state::ready);
    CHECK_FALSE(life.draining());
    life.drain();
    CHECK(life.draining());
}

TEST_CASE("a process that drains is never ready again, also if it has never been") {
    lifecycle life;
    life.drain();
    life.become_ready();
    CHECK(life.stage() == lifecycle_state::draining);
}

TEST_CASE("a process that hands over is ready again when that comes to nothing") {
    lifecycle life;
    CHECK_FALSE(life.hand_over());
    life.become_ready();
    CHECK(life.hand_over());
    CHECK(life.in_takeover());
    CHECK_FALSE(life.draining());
    CHECK_FALSE(life.hand_over());
    CHECK(life.go_on());
    CHECK(life.stage() == lifecycle_state::ready);
    CHECK_FALSE(life.go_on());
}

TEST_CASE("a process that is told to end while it hands over ends") {
    lifecycle life;
    life.become_ready();
    CHECK(life.hand_over());
    life.drain();
    CHECK_FALSE(life.go_on());
    CHECK(life.draining());
}
