#include <cstdint>
#include <cstdio>
#include <string>

#include "support/catch.hpp"
#include "wire/snappy_block.hpp"
#include "wire/wire_bytes.hpp"
#include "wire/write_request.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;

namespace recorded_requests_test {
namespace {

struct totals {
    std::uint64_t compressed_bytes = 0;
    std::uint64_t raw_bytes = 0;
    std::uint64_t entries = 0;
    std::uint64_t samples = 0;
    std::uint64_t histograms = 0;
    std::uint64_t metadata = 0;
};

void read_file(const std::string& path, totals& sums) {
    decode_buffer buffer;
    const std::string compressed = read_test_file(path);
    const auto body = snappy_decode(compressed, 32 << 20, buffer);
    REQUIRE(body.has_value());
    sums.compressed_bytes += compressed.size();
    sums.raw_bytes += body->size();
    write_request_reader reader{*body};
    while (reader.next()) {
        ++sums.entries;
        sums.samples += reader.series().samples;
        sums.histograms += reader.series().histograms;
    }
    REQUIRE_FALSE(reader.failed());
    sums.metadata += reader.metadata_count();
}

}  // namespace

TEST_CASE("the recorded requests hold what their README says") {
    totals sums;
    for (int number = 0; number < 16; ++number) {
        char file[64];
        std::snprintf(file, sizeof file, "data/prometheus-3.5-v1/%05d.snappy", number);
        read_file(file, sums);
    }
    CHECK(sums.samples == 32000);
    CHECK(sums.entries == 32000);
    CHECK(sums.histograms == 0);
    CHECK(sums.metadata == 0);
    CHECK(sums.compressed_bytes == 969486);
    CHECK(sums.raw_bytes == 9163193);
}

TEST_CASE("the recorded native histograms are counted apart from samples") {
    totals sums;
    read_file("data/native-histograms-v1/00000.snappy", sums);
    read_file("data/native-histograms-v1/00005.snappy", sums);
    CHECK(sums.samples == 2903);
    CHECK(sums.histograms == 19);
    CHECK(sums.compressed_bytes == 69554);
    CHECK(sums.raw_bytes == 500252);
}

TEST_CASE("the recorded metadata holds 528 entries and no series") {
    totals sums;
    read_file("data/metadata-v1/00058.snappy", sums);
    CHECK(sums.metadata == 528);
    CHECK(sums.entries == 0);
}

}  // namespace recorded_requests_test
