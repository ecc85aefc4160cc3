#include <random>
#include <string>
#include <vector>

#include "remote_write_v1.pb.h"
#include "support/catch.hpp"
#include "wire/snappy_block.hpp"
#include "wire/wire_bytes.hpp"
#include "wire/write_request.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;

namespace {

std::string spliced(bytes_view body, const std::vector<byte_range>& removed) {
    std::string out = "left over from the request before";
    splice(body, removed, out);
    return out;
}

}  // namespace

TEST_CASE("what is left after a splice is everything but the ranges removed") {
    const std::string body = "0123456789";
    CHECK(spliced(body, {}) == body);
    CHECK(spliced(body, {{0, 10}}).empty());
    CHECK(spliced(body, {{0, 3}}) == "3456789");
    CHECK(spliced(body, {{7, 3}}) == "0123456");
    CHECK(spliced(body, {{4, 2}}) == "01236789");
    CHECK(spliced(body, {{1, 2}, {3, 2}, {8, 1}}) == "05679");
    CHECK(spliced(body, {{5, 0}}) == body);
    CHECK(spliced("", {}).empty());
}

TEST_CASE("a splice equals the bytes picked one by one") {
    std::mt19937_64 random{2};
    for (int round = 0; round < 2000; ++round) {
        std::string body;
        std::string expected;
        std::vector<byte_range> removed;
        for (auto pieces = random() % 10; pieces > 0; --pieces) {
            std::string piece(random() % 20, '\0');
            for (char& byte : piece) byte = static_cast<char>(random());
            if (random() % 2 == 0) {
                removed.push_back({static_cast<std::uint32_t>(body.size()), static_cast<std::uint32_t>(piece.size())});
            } else {
                expected += piece;
            }
            body += piece;
        }
        REQUIRE(spliced(body, removed) == expected);
    }
}

TEST_CASE("a splice reuses the memory of the request before") {
    std::string out;
    const std::string body(10000, 'x');
    splice(body, {}, out);
    const char* const memory = out.data();
    splice(bytes_view{body}.substr(0, 5000), {}, out);
    CHECK(out.size() == 5000);
    CHECK(static_cast<const void*>(out.data()) == memory);
}

TEST_CASE("series cut out of a request leave the others, metadata and unknown fields untouched") {
    const std::string kept_1 = series({label("job", "a"), sample_bits(stale_marker_bits)});
    const std::string cut_1 = series({label("job", "b"), sample(1)});
    const std::string vendor = varint_field(2, 1) + len_field(1000, "x");
    const std::string cut_2 = series({label("job", "c"), sample(1)});
    const std::string kept_2 = series({label("job", "d"), varint_field(6, 5), sample_bits(0x7ff8dead0000beef)});
    const std::string body = kept_1 + cut_1 + vendor + cut_2 + metadata("up") + kept_2;

    std::vector<byte_range> removed;
    write_request_reader reader{body};
    for (int index = 0; reader.next(); ++index)
        if (index == 1 || index == 2) removed.push_back(reader.series().record);
    REQUIRE_FALSE(reader.failed());
    CHECK(spliced(body, removed) == kept_1 + vendor + metadata("up") + kept_2);
}

TEST_CASE("a recorded request without every third series parses to just the others") {
    decode_buffer buffer;
    const std::string compressed = read_test_file("data/prometheus-3.5-v1/00003.snappy");
    const auto body = snappy_decode(compressed, 32 << 20, buffer);
    REQUIRE(body.has_value());
    prometheus::WriteRequest expected;
    prometheus::WriteRequest original;
    REQUIRE(original.ParseFromArray(body->data(), static_cast<int>(body->size())));

    std::vector<byte_range> removed;
    write_request_reader reader{*body};
    for (int index = 0; reader.next(); ++index) {
        if (index % 3 == 0) {
            removed.push_back(reader.series().record);
        } else {
            *expected.add_timeseries() = original.timeseries(index);
        }
    }
    REQUIRE_FALSE(reader.failed());
    CHECK(expected.timeseries_size() > 1000);

    const std::string left = spliced(*body, removed);
    CHECK((left == expected.SerializeAsString()));
}
