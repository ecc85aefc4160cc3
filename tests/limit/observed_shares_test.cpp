#include "limit/verdict.hpp"

#include "support/catch.hpp"

using namespace seriesgate;

namespace observed_shares_test {

using observed_shares = shares_by_limit<observed_share>;

void add(observed_shares& shares, const observed_share& one) {
    if (!shares.add(one.limit, one.samples)) shares.begin(one);
}

TEST_CASE("what limits that observe would have refused is added up by limit, in the order in which they came") {
    observed_shares shares;
    for (int request = 0; request < 2; ++request) {
        shares.start();
        add(shares, {.limit = 7, .window = refusing_window::daily, .first = 3, .samples = 10});
        add(shares, {.limit = 2, .window = refusing_window::hourly, .first = 3, .samples = 10});
        add(shares, {.limit = 7, .window = refusing_window::hourly, .first = 4, .samples = 5});
        REQUIRE(shares.all().size() == 2);
        CHECK(shares.all()[0].limit == 7);
        CHECK(shares.all()[0].window == refusing_window::daily);
        CHECK(shares.all()[0].first == 3);
        CHECK(shares.all()[0].samples == 15);
        CHECK(shares.all()[1].limit == 2);
        CHECK(shares.all()[1].samples == 10);
    }
}

TEST_CASE("a request of millions of series takes no more memory for that than one of a few") {
    observed_shares shares;
    for (std::uint32_t entry = 0; entry < 1'000'000; ++entry)
        for (limit_number limit = 0; limit < 3; ++limit) add(shares, {.limit = limit, .first = entry, .samples = 1});
    REQUIRE(shares.all().size() == 3);
    CHECK(shares.all()[2].samples == 1'000'000);
}

}  // namespace observed_shares_test
