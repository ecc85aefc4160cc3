#include "wire/sample_records.hpp"

#include <bit>
#include <limits>

#include "remote_write_v1.pb.h"
#include "support/catch.hpp"
#include "wire/wire_bytes.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;

namespace {

constexpr std::array<label_view, 2> up_of_a{{{"__name__", "up"}, {"job", "a"}}};

}  // namespace

TEST_CASE("series are written one behind the other, as libprotobuf reads them") {
    std::string body;
    append_series(body, up_of_a, std::bit_cast<std::uint64_t>(2.5), 1'767'261'660'000);
    append_series(body, std::array<label_view, 1>{{{"__name__", std::string_view{"\0", 1}}}}, 0, 0);
    prometheus::WriteRequest message;
    REQUIRE(message.ParseFromString(body));
    CHECK(message.SerializeAsString().size() >= body.size() - 20);  // zeroes are written, and need not be
    REQUIRE(message.timeseries_size() == 2);
    const auto& first = message.timeseries(0);
    REQUIRE(first.labels_size() == 2);
    CHECK(first.labels(0).name() == "__name__");
    CHECK(first.labels(0).value() == "up");
    CHECK(first.labels(1).name() == "job");
    CHECK(first.labels(1).value() == "a");
    REQUIRE(first.samples_size() == 1);
    CHECK(first.samples(0).value() == 2.5);
    CHECK(first.samples(0).timestamp() == 1'767'261'660'000);
    CHECK(message.timeseries(1).labels(0).value() == std::string(1, '\0'));
    CHECK(message.timeseries(1).samples(0).timestamp() == 0);
}

TEST_CASE("a stale marker keeps its bits, and any time is written") {
    for (const std::int64_t timestamp : {std::int64_t{-1}, std::numeric_limits<std::int64_t>::max()}) {
        std::string body;
        append_series(body, up_of_a, stale_marker_bits, timestamp);
        prometheus::WriteRequest message;
        REQUIRE(message.ParseFromString(body));
        CHECK(std::bit_cast<std::uint64_t>(message.timeseries(0).samples(0).value()) == stale_marker_bits);
        CHECK(message.timeseries(0).samples(0).timestamp() == timestamp);
    }
}

TEST_CASE("what is written is what a sender would write, whatever its size") {
    for (const std::size_t size : {1u, 127u, 128u, 1024u, 20'000u}) {
        const std::string value(size, 'x');
        std::string body;
        append_series(body, std::array<label_view, 1>{{{"__name__", value}}}, std::bit_cast<std::uint64_t>(1.0), 7);
        prometheus::WriteRequest message;
        REQUIRE(message.ParseFromString(body));
        CHECK(message.SerializeAsString() == body);
    }
}
