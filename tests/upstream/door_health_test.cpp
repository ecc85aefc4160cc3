#include "upstream/door_health.hpp"

#include "support/catch.hpp"

using namespace seriesgate;
using namespace std::chrono_literals;

namespace door_health_test {
namespace {

constexpr door_health::clock::time_point start{1h};

/// Out at `start`, and accepting connections again a second later.
void come_to_trial(door_health& door) {
    REQUIRE(door.failed(start, start));
    REQUIRE(door.take_look(start + 1s, start + 6s));
    door.accepts(start + 1s);
    REQUIRE(door.standing() == door_standing::trial);
}

}  // namespace

TEST_CASE("a door is well until it fails, and that is told of once") {
    door_health door;
    CHECK(door.is_up());
    CHECK(door.share(start) == 1);
    CHECK_FALSE(door.answered(204, start, start));
    CHECK(door.failed(start, start));
    CHECK(door.standing() == door_standing::out);
    CHECK_FALSE(door.is_up());
    CHECK_FALSE(door.failed(start, start + 1ms));
    CHECK(door.due() == start + 1s);
}

TEST_CASE("a door that is out is looked at by one, after a second") {
    door_health door;
    CHECK_FALSE(door.take_look(start, start + 5s));
    door.failed(start, start);
    CHECK_FALSE(door.take_look(start + 999ms, start + 6s));
    CHECK(door.take_look(start + 1s, start + 6s));
    CHECK_FALSE(door.take_look(start + 2s, start + 7s));
    SECTION("and by another if that one never comes back") {
        CHECK(door.take_look(start + 6s, start + 11s));
    }
    SECTION("and after twice the time if it still accepts nothing") {
        CHECK_FALSE(door.failed(start + 1s, start + 2s));
        CHECK(door.due() == start + 4s);
        CHECK_FALSE(door.take_look(start + 3'999ms, start + 9s));
        CHECK(door.take_look(start + 4s, start + 9s));
    }
}

TEST_CASE("the pause between looks doubles up to half a minute") {
    door_health door;
    auto now = start;
    door.failed(now, now);
    for (const auto pause : {1s, 2s, 4s, 8s, 16s, 30s, 30s}) {
        CHECK(door.due() == now + pause);
        now += pause;
        REQUIRE(door.take_look(now, now + 5s));
        door.failed(now, now);
    }
}

TEST_CASE("when it accepts connections, one request is its trial") {
    door_health door;
    come_to_trial(door);
    CHECK(door.has_trial(start + 1s));
    CHECK(door.take_trial(start + 1s, start + 10s));
    CHECK_FALSE(door.has_trial(start + 2s));
    CHECK_FALSE(door.take_trial(start + 2s, start + 11s));
    SECTION("which ends with an answer: the door is well, with a share that grows") {
        CHECK(door.answered(204, start + 1s, start + 3s) == 3s);
        CHECK(door.standing() == door_standing::well);
        CHECK(door.share(start + 3s) == 0);
        CHECK(door.share(start + 8s) == 0.5);
        CHECK(door.share(start + 13s) == 1);
        CHECK_FALSE(door.answered(204, start + 3s, start + 4s));
    }
    SECTION("which fails: it is out for longer, and nobody is told again") {
        CHECK_FALSE(door.failed(start + 1s, start + 3s));
        CHECK(door.standing() == door_standing::out);
        CHECK(door.due() == start + 5s);
    }
    SECTION("and another one's, if the first never ends") {
        CHECK(door.take_trial(start + 10s, start + 20s));
    }
}

TEST_CASE("requests that began before say nothing of a door as it is") {
    door_health door;
    come_to_trial(door);
    SECTION("they fail") {
        CHECK_FALSE(door.failed(start, start + 2s));
        CHECK(door.standing() == door_standing::trial);
    }
    SECTION("they are answered") {
        CHECK_FALSE(door.answered(204, start, start + 2s));
        CHECK(door.standing() == door_standing::trial);
    }
    SECTION("they were at a door that has gone") {
        door_health other;
        other.failed(start, start);
        CHECK_FALSE(other.answered(204, start - 1s, start + 1ms));
        CHECK(other.standing() == door_standing::out);
    }
}

TEST_CASE("a door that fails while it still recovers is out for longer, one that had recovered is not") {
    door_health door;
    come_to_trial(door);
    door.take_trial(start + 1s, start + 10s);
    door.answered(204, start + 1s, start + 2s);
    SECTION("recovering") {
        CHECK(door.failed(start + 3s, start + 3s));
        CHECK(door.due() == start + 5s);
    }
    SECTION("recovered") {
        CHECK(door.failed(start + 12s, start + 12s));
        CHECK(door.due() == start + 13s);
    }
}

TEST_CASE("an answer of a door that is out, when there was no other, brings it back") {
    door_health door;
    door.failed(start, start);
    CHECK(door.answered(204, start + 100ms, start + 200ms) == 200ms);
    CHECK(door.is_up());
}

TEST_CASE("five 503 in a row set a door aside, and any other answer ends that") {
    door_health door;
    for (unsigned i = 0; i < door_health::turned_away_max - 1; ++i) door.answered(503, start, start);
    CHECK(door.standing() == door_standing::well);
    SECTION("with another answer between they are not in a row") {
        door.answered(500, start, start);
        door.answered(503, start, start);
        CHECK(door.standing() == door_standing::well);
    }
    SECTION("the fifth") {
        CHECK_FALSE(door.answered(503, start, start));
        CHECK(door.standing() == door_standing::turning_away);
        CHECK(door.is_up());
        CHECK_FALSE(door.has_trial(start + 999ms));
        CHECK(door.take_trial(start + 1s, start + 10s));
        SECTION("and the sixth after a second: it is set aside for longer") {
            CHECK_FALSE(door.answered(503, start + 1s, start + 2s));
            CHECK(door.due() == start + 4s);
            CHECK_FALSE(door.has_trial(start + 2s));
        }
        SECTION("and another answer") {
            CHECK(door.answered(204, start + 1s, start + 2s) == 2s);
            CHECK(door.standing() == door_standing::well);
            door.answered(503, start + 3s, start + 3s);
            CHECK(door.standing() == door_standing::well);
        }
        SECTION("and no answer") {
            CHECK(door.failed(start + 1s, start + 2s));
            CHECK(door.standing() == door_standing::out);
        }
    }
}

}  // namespace door_health_test
