#include "cardinality/findings.hpp"

#include "support/catch.hpp"

using namespace seriesgate;

TEST_CASE("names that differ in numbers have one pattern") {
    CHECK(name_pattern("user_17_requests_total") == "user_#_requests_total");
    CHECK(name_pattern("session_0a1b2c3d4e5f_bytes") == "session_#_bytes");
    CHECK(name_pattern("a_550e8400-e29b-41d4-a716-446655440000_b") == "a_#-#-#-#-#_b");
    CHECK(name_pattern("job_550e8400_e29b_41d4_a716_446655440000_total") == "job_#_#_#_#_#_total");
    CHECK(name_pattern("latency_p95_e2e") == "latency_p#_e#e");
    CHECK(name_pattern("feedface_total") == "feedface_total");
    CHECK(name_pattern("http2_requests") == "http#_requests");
    CHECK(name_pattern("").empty());
}

TEST_CASE("a name has a pattern if it differs from it where it may") {
    CHECK(matches_pattern("user_17_total", "user_#_total"));
    CHECK_FALSE(matches_pattern("user_abc_total", "user_#_total"));
    CHECK(matches_pattern("shop_abcd_total", "shop_*_total"));
    CHECK_FALSE(matches_pattern("shop__total", "shop_*_total"));
    CHECK_FALSE(matches_pattern("shop_abcd_count", "shop_*_total"));
    CHECK_FALSE(matches_pattern("shop_total", "shop_*_total"));
}
