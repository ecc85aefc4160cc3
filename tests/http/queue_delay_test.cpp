#include "http/queue_delay.hpp"

#include "support/catch.hpp"

namespace seriesgate::testing::queue_delay_test {
namespace {

/// A thread that is allowed a second, and its clock.
struct scene {
    queue_delay delay{1s};
    queue_delay::clock::time_point now{1h};

    scene() { delay.begin_round(now); }

    void work_on(std::size_t requests) {
        for (std::size_t i = 0; i < requests; ++i) delay.note_request(now);
    }
    /// The probe has its turn, and the next one goes at once.
    queue_delay::clock::duration end_round() {
        const auto took = delay.end_round(now);
        delay.begin_round(now);
        return took;
    }
    [[nodiscard]] bool is_standing() const { return delay.is_standing(now); }
};

TEST_CASE("who is never late turns nobody away") {
    scene at;
    for (int round = 0; round < 10; ++round) {
        at.work_on(1000);
        at.now += 1s;
        CHECK_FALSE(at.is_standing());
        CHECK(at.end_round() == 1s);
        CHECK_FALSE(at.delay.is_behind());
    }
}

TEST_CASE("a giant makes one round long, and turns nobody away") {
    scene at;
    at.work_on(1);
    at.now += 10s;
    at.work_on(queue_delay::requests_many - 2);
    CHECK_FALSE(at.is_standing());
    CHECK(at.end_round() == 10s);
    CHECK(at.delay.is_behind());
    at.now += 900ms;
    CHECK_FALSE(at.is_standing());
    at.end_round();
    at.now += 10s;
    CHECK_FALSE(at.is_standing());
}

TEST_CASE("many requests in a long round are more than can be done") {
    scene at;
    at.work_on(queue_delay::requests_many);
    at.now += 1s;
    CHECK_FALSE(at.is_standing());
    at.now += 1ms;
    CHECK(at.is_standing());
}

TEST_CASE("after one round that was too long, the next one has its time, and what comes later is turned away") {
    scene at;
    at.now += 2s;
    at.end_round();
    at.now += 1s;
    CHECK_FALSE(at.is_standing());
    at.now += 1ms;
    CHECK(at.is_standing());
    at.end_round();
    CHECK_FALSE(at.is_standing());
    at.now += 2s;
    CHECK(at.is_standing());
}

TEST_CASE("long before requests are turned away their senders may have given up") {
    scene at;
    at.work_on(1);  // as dear as it is
    at.now += 251ms;
    CHECK(at.delay.is_late(at.now));
    at.work_on(queue_delay::requests_many);
    CHECK(at.delay.is_late(at.now));
    CHECK_FALSE(at.is_standing());
    at.end_round();
    at.work_on(queue_delay::requests_many);
    at.now += 250ms;
    CHECK_FALSE(at.delay.is_late(at.now));
    at.now += 2s;
    at.end_round();
    CHECK(at.delay.is_late(at.now));
}

TEST_CASE("a probe that is late is late for the same reason as all others") {
    scene at;
    at.delay.begin_round(at.now + 100ms);
    CHECK(at.delay.late(at.now) == 0s);
    at.now += 100ms;
    at.work_on(queue_delay::requests_many);
    at.now += 1s;
    CHECK_FALSE(at.is_standing());
    at.now += 1ms;
    CHECK(at.is_standing());
    CHECK(at.end_round() == 1001ms);
}

TEST_CASE("requests before a round do not make it one with many requests") {
    scene at;
    at.delay.begin_round(at.now + 100ms);
    at.work_on(queue_delay::requests_many);
    at.now += 1200ms;  // the thread got no turn
    CHECK_FALSE(at.is_standing());
    at.work_on(1);
    CHECK_FALSE(at.is_standing());
}

}  // namespace
}  // namespace seriesgate::testing::queue_delay_test
