#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "remote_write_v2.pb.h"
#include "support/catch.hpp"
#include "wire/snappy_block.hpp"
#include "wire/wire_bytes.hpp"
#include "wire/write_request_v2.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;

namespace recorded_requests_v2_test {
namespace {

struct totals {
    std::uint64_t compressed_bytes = 0;
    std::uint64_t raw_bytes = 0;
    std::uint64_t entries = 0;
    std::uint64_t samples = 0;
    std::uint64_t histograms = 0;
    std::uint64_t exemplars = 0;
};

/// Whether the generated classes see the same labels and counts in the entry.
bool same(const write_request_v2_reader& reader, const io::prometheus::write::v2::Request& message, int entry) {
    const auto& expected = message.timeseries(entry);
    const series_view& series = reader.series();
    std::vector<label_view> labels;
    reader.labels(series.record, labels);
    if (expected.labels_refs_size() != 2 * static_cast<int>(labels.size())) return false;
    for (int i = 0; i < expected.labels_refs_size(); ++i) {
        const label_view& label = labels[static_cast<std::size_t>(i / 2)];
        const auto ref = static_cast<int>(expected.labels_refs(i));
        if ((i % 2 == 0 ? label.name : label.value) != message.symbols(ref)) return false;
    }
    return static_cast<int>(series.samples) == expected.samples_size() &&
           static_cast<int>(series.histograms) == expected.histograms_size() &&
           static_cast<int>(series.exemplars) == expected.exemplars_size();
}

void read_file(const std::string& path, totals& sums) {
    decode_buffer buffer;
    const std::string compressed = read_test_file(path);
    const auto body = snappy_decode(compressed, 32 << 20, buffer);
    REQUIRE(body.has_value());
    sums.compressed_bytes += compressed.size();
    sums.raw_bytes += body->size();
    io::prometheus::write::v2::Request message;
    REQUIRE(message.ParseFromArray(body->data(), static_cast<int>(body->size())));

    int entry = 0;
    write_request_v2_reader reader{*body};
    for (; reader.next(); ++entry) {
        REQUIRE(entry < message.timeseries_size());
        REQUIRE(same(reader, message, entry));
        sums.samples += reader.series().samples;
        sums.histograms += reader.series().histograms;
        sums.exemplars += reader.series().exemplars;
    }
    REQUIRE_FALSE(reader.failed());
    REQUIRE(entry == message.timeseries_size());
    sums.entries += static_cast<std::uint64_t>(entry);
}

}  // namespace

TEST_CASE("v2: the recorded requests hold what their README says, and what libprotobuf sees") {
    totals sums;
    for (int number = 0; number < 16; ++number) {
        char file[64];
        std::snprintf(file, sizeof file, "data/prometheus-3.5-v2/%05d.snappy", number);
        read_file(file, sums);
    }
    CHECK(sums.samples == 32000);
    CHECK(sums.entries == 32000);
    CHECK(sums.histograms == 0);
    CHECK(sums.exemplars == 0);
    CHECK(sums.compressed_bytes == 574869);
    CHECK(sums.raw_bytes == 2063005);
}

TEST_CASE("v2: the recorded native histograms likewise") {
    totals sums;
    read_file("data/native-histograms-v2/00000.snappy", sums);
    read_file("data/native-histograms-v2/00005.snappy", sums);
    CHECK(sums.samples == 2885);
    CHECK(sums.histograms == 18);
    CHECK(sums.compressed_bytes == 37127);
    CHECK(sums.raw_bytes == 125375);
}

}  // namespace recorded_requests_v2_test
