#include "upstream/loop_detection.hpp"

#include <initializer_list>
#include <string>

#include "support/catch.hpp"

namespace seriesgate::testing::loop_detection_test {
namespace {

bool circles(std::initializer_list<std::string> via) {
    http::fields headers;
    for (const std::string& line : via) headers.insert(http::field::via, line);
    return is_request_loop(headers);
}

TEST_CASE("this process has one name, a pseudonym with a random number") {
    CHECK(own_via().starts_with("1.1 seriesgate-"));
    CHECK(own_via().size() > 20);
    CHECK(own_via() == own_via());
}

TEST_CASE("a request that has been here goes in circles, wherever its Via says so") {
    const std::string own{own_via()};
    CHECK(circles({own}));
    CHECK(circles({"1.0 edge, " + own + " (again), 1.1 x"}));
    CHECK(circles({"1.0 edge", "1.1 x", "HTTP/" + own + ":9201"}));
    CHECK_FALSE(circles({own + "0"}));
    CHECK_FALSE(circles({own.substr(0, own.size() - 1)}));
    CHECK_FALSE(circles({"1.1 edge (" + own + ")"}));
    CHECK_FALSE(circles({own.substr(4)}));
}

TEST_CASE("a request may pass four gates") {
    const std::string gate = "1.1 seriesgate-1";
    CHECK_FALSE(circles({}));
    CHECK_FALSE(circles({gate, gate, gate}));
    CHECK(circles({gate, gate, gate, gate}));
    CHECK(circles({gate + "," + gate, "1.1 x", " ,, " + gate + ",1.1\tSERIESGATE"}));
    CHECK_FALSE(circles({"1.1 seriesgateway, 1.1 xseriesgate, seriesgate, 1.1, 1.1 seriesgat"}));
}

}  // namespace
}  // namespace seriesgate::testing::loop_detection_test
