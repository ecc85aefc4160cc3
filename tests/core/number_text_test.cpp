#include "core/text.hpp"

#include "support/catch.hpp"

using namespace seriesgate;
using namespace std::chrono_literals;

TEST_CASE("numbers have groups of three digits") {
    CHECK(grouped(0) == "0");
    CHECK(grouped(999) == "999");
    CHECK(grouped(1'000) == "1,000");
    CHECK(grouped(1'234'567) == "1,234,567");
    CHECK(grouped(18446744073709551615U) == "18,446,744,073,709,551,615");
}

TEST_CASE("an estimate says so, and has no more digits than are known") {
    CHECK(count_text(6'422, true) == "6,422");
    CHECK(count_text(6'422, false) == "about 6,400");
    CHECK(count_text(6'450, false) == "about 6,500");
    CHECK(count_text(9'960, false) == "about 10,000");
    CHECK(count_text(17'803, false) == "about 17,800");
    CHECK(count_text(1'025, false) == "about 1,030");
    CHECK(count_text(7, false) == "about 7");
    CHECK(count_text(18446744073709551615U, false) == "about 18,400,000,000,000,000,000");
}

TEST_CASE("a duration has two units at most") {
    CHECK(duration_text(0s) == "0 s");
    CHECK(duration_text(59s) == "59 s");
    CHECK(duration_text(60s) == "1 min");
    CHECK(duration_text(59min + 59s) == "59 min");
    CHECK(duration_text(60min) == "1 h 0 min");
    CHECK(duration_text(3h + 4min + 5s) == "3 h 4 min");
    CHECK(duration_text(23h + 59min + 59s) == "23 h 59 min");
    CHECK(duration_text(24h) == "1 d 0 h");
    CHECK(duration_text(24h * 400 + 5h) == "400 d 5 h");
}
