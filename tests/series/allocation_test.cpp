#include "support/allocations.hpp"

#include <string>
#include <vector>

#include "series/selector.hpp"
#include "support/catch.hpp"

using namespace seriesgate;

TEST_CASE("selectors without a real regular expression match without allocating") {
    const auto text = GENERATE(as<std::string>{}, "up", R"(up{job="a",instance!="b"})", R"({job=~"a|b|c",x!~"y|z"})",
                               R"({namespace=~".+",x=~".*"})", R"({__name__=~"up|ALERTS.*|job:.+"})");
    const auto made = parse_selector(text);
    REQUIRE(made.has_value());
    const std::string long_value(10'000, 'v');
    const std::vector<label_view> labels{
        {"__name__", "up"}, {"instance", long_value}, {"job", "a"}, {"namespace", "\xff\xfe"}};
    bool matched = false;
    const testing::allocations used = testing::allocations_of([&] { matched = made->matches(labels); });
    CAPTURE(text);
    CHECK(matched);
    CHECK(used.count == 0);
}
