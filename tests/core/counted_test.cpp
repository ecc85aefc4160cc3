#include "core/counted.hpp"

#include "support/catch.hpp"

using namespace seriesgate;

TEST_CASE("only one is singular") {
    CHECK(counted(0, "sample") == "0 samples");
    CHECK(counted(1, "sample") == "1 sample");
    CHECK(counted(2, "request") == "2 requests");
}
