#include "limit/verdict.hpp"

#include "support/catch.hpp"

using namespace seriesgate;

TEST_CASE("what limits that observe would have refused is added up by limit, in the order in which they came") {
    observed_shares shares;
    for (int request = 0; request < 2; ++request) {
        shares.start();
        shares.add({.by = 7, .window = refusing_window::daily}, 3, 10);
        shares.add({.by = 2, .window = refusing_window::hourly}, 3, 10);
        shares.add({.by = 7, .window = refusing_window::hourly}, 4, 5);
        REQUIRE(shares.all().size() == 2);
        CHECK(shares.all()[0].by.by == 7);
        CHECK(shares.all()[0].by.window == refusing_window::daily);
        CHECK(shares.all()[0].first == 3);
        CHECK(shares.all()[0].samples == 15);
        CHECK(shares.all()[1].by.by == 2);
        CHECK(shares.all()[1].samples == 10);
    }
}

TEST_CASE("a request of millions of series takes no more memory for that than one of a few") {
    observed_shares shares;
    for (std::uint32_t entry = 0; entry < 1'000'000; ++entry)
        for (limit_number limit = 0; limit < 3; ++limit) shares.add({.by = limit}, entry, 1);
    REQUIRE(shares.all().size() == 3);
    CHECK(shares.all()[2].samples == 1'000'000);
}
