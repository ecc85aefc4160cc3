#include "top/numbers.hpp"

#include "support/catch.hpp"

using namespace seriesgate::top;
using namespace std::chrono_literals;

TEST_CASE("numbers are grouped by thousands") {
    CHECK(grouped(0) == "0");
    CHECK(grouped(999) == "999");
    CHECK(grouped(1000) == "1,000");
    CHECK(grouped(1234567) == "1,234,567");
    CHECK(grouped(18446744073709551615U) == "18,446,744,073,709,551,615");
}

TEST_CASE("durations are said in two units at most") {
    CHECK(duration_text(59s) == "59 s");
    CHECK(duration_text(60s) == "1 min");
    CHECK(duration_text(3h + 4min + 5s) == "3 h 4 min");
    CHECK(duration_text(51h) == "2 d 3 h");
}

TEST_CASE("a bar and its percentage are full only when all is used") {
    CHECK(percent(999, 1000) == 99);
    CHECK(percent(1000, 1000) == 100);
    CHECK(percent(1, 0) == 0);
    CHECK(percent(18446744073709551615U, 1) == 999);
    CHECK(bar(0, 10, 12) == "[----------]");
    CHECK(bar(999, 1000, 12) == "[#########-]");
    CHECK(bar(1000, 1000, 12) == "[##########]");
    CHECK(bar(5000, 1000, 12) == "[##########]");
    CHECK(bar(1, 1, 2) == "[]");
}
