#include "support/allocations.hpp"

#include "series/fingerprint.hpp"
#include "series/selector.hpp"
#include "support/catch.hpp"
#include "wire/wire_bytes.hpp"
#include "wire/write_request_v2.hpp"

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

TEST_CASE("a request of remote write 2 is read and fingerprinted without allocating, once the buffers have grown") {
    const std::string body = testing::decoded_file("data/prometheus-3.5-v2/00003.snappy");
    write_request_v2_reader reader;
    std::uint64_t sums[2] = {0, 0};
    const auto read = [&](std::uint64_t& sum) {
        reader.reset(body);
        while (reader.next()) sum += reader.series().labels_hash;
    };
    read(sums[0]);
    const testing::allocations used = testing::allocations_of([&] { read(sums[1]); });
    CHECK(used.count == 0);
    CHECK(sums[0] == sums[1]);
    CHECK_FALSE(reader.failed());
}
