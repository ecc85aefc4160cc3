#include "http/inflight.hpp"

#include "support/catch.hpp"

using namespace seriesgate;

TEST_CASE("requests together never hold more than the limit, and give back what they held") {
    gauge held;
    inflight_room room{held, 100, 0};
    {
        inflight_lease one{room};
        inflight_lease two{room};
        CHECK(one.grow(60));
        CHECK_FALSE(two.grow(41));
        CHECK(held.value() == 60);
        CHECK(two.grow(40));
        CHECK_FALSE(one.grow(1));
        CHECK(held.value() == 100);
    }
    CHECK(held.value() == 0);
}

TEST_CASE("bodies leave room for one of them to be decoded") {
    gauge held;
    inflight_room room{held, 100, 70};
    inflight_lease one{room};
    inflight_lease two{room};
    CHECK(one.has_room(30));
    CHECK(one.grow(20));
    CHECK_FALSE(two.has_room(11));
    CHECK_FALSE(two.grow(11));
    CHECK(two.has_room(10));
    CHECK(two.grow(10));
    {
        work_lease decoding{one};
        CHECK(decoding.grow(70));
        CHECK_FALSE(decoding.grow(1));
        CHECK(held.value() == 100);
        work_lease other{two};
        CHECK_FALSE(other.grow(1));
    }
    CHECK(held.value() == 30);
    work_lease decoding{two};
    CHECK(decoding.grow(70));
}

TEST_CASE("work takes room from bodies while it lasts") {
    gauge held;
    inflight_room room{held, 100, 10};
    inflight_lease one{room};
    inflight_lease two{room};
    CHECK(one.grow(10));
    {
        work_lease decoding{one};
        CHECK(decoding.grow(60));
        CHECK_FALSE(two.grow(31));
        CHECK(two.grow(30));
    }
    CHECK(two.grow(50));
}

TEST_CASE("a request that is alone gets what it wants, for nobody else can give anything back") {
    gauge held;
    inflight_room room{held, 100, 50};
    {
        inflight_lease one{room};
        CHECK(one.has_room(1'000));
        CHECK(one.grow(60));
        work_lease work{one};
        CHECK(work.grow(200));
        CHECK(one.grow(1));
        inflight_lease two{room};
        CHECK_FALSE(two.has_room(1));
        CHECK_FALSE(two.grow(1));
        CHECK(held.value() == 261);
        one.release();
        CHECK(held.value() == 200);
    }
    CHECK(held.value() == 0);
}
