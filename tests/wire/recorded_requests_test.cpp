#include "fuzz/walk_property_v2.hpp"
#include "support/catch.hpp"
#include "wire/decompression.hpp"
#include "wire/wire_bytes.hpp"
#include "wire/write_request.hpp"
#include "wire/write_request_v2.hpp"

namespace seriesgate::testing::recorded_requests_test {
namespace {

struct totals {
    std::uint64_t compressed_bytes = 0;
    std::uint64_t raw_bytes = 0;
    std::uint64_t entries = 0;
    std::uint64_t samples = 0;
    std::uint64_t histograms = 0;
    std::uint64_t exemplars = 0;
    std::uint64_t metadata = 0;
    friend bool operator==(const totals&, const totals&) = default;
};

/// @return the decoded body.
template <class Reader>
std::string read_file(const std::string& path, totals& sums) {
    decode_buffer buffer;
    const std::string compressed = read_test_file(path);
    const auto body = snappy_decode(compressed, 32 << 20, buffer);
    REQUIRE(body.has_value());
    sums.compressed_bytes += compressed.size();
    sums.raw_bytes += body->size();
    Reader reader{*body};
    while (reader.next()) {
        ++sums.entries;
        sums.samples += reader.series().samples;
        sums.histograms += reader.series().histograms;
        sums.exemplars += reader.series().exemplars;
    }
    REQUIRE_FALSE(reader.failed());
    sums.metadata += reader.metadata_count();
    return std::string{*body};
}

/// Of version 2, where others have to see the same labels and counts in every entry.
void read_file_v2(const std::string& path, totals& sums) {
    const walk_check check = check_walk_v2(read_file<write_request_v2_reader>(path, sums));
    CHECK(check.fault == "");
    CHECK(check.accepted);
}

template <class Read>
totals read_folder(const std::string& folder, Read read) {
    totals sums;
    for (const std::string& path : recorded_files(folder)) read(path, sums);
    return sums;
}

TEST_CASE("the recorded requests hold what their README says, and version 2 what libprotobuf sees") {
    CHECK((read_folder("prometheus-3.5-v1", read_file<write_request_reader>) ==
           totals{.compressed_bytes = 969486, .raw_bytes = 9163193, .entries = 32000, .samples = 32000}));
    CHECK((read_folder("prometheus-3.5-v2", read_file_v2) ==
           totals{.compressed_bytes = 574869, .raw_bytes = 2063005, .entries = 32000, .samples = 32000}));
}

TEST_CASE("the recorded native histograms are counted apart from samples, in both versions") {
    const totals first = read_folder("native-histograms-v1", read_file<write_request_reader>);
    const totals second = read_folder("native-histograms-v2", read_file_v2);
    CHECK(first.samples == 2903);
    CHECK(first.histograms == 19);
    CHECK(first.compressed_bytes == 69554);
    CHECK(first.raw_bytes == 500252);
    CHECK(second.samples == 2885);
    CHECK(second.histograms == 18);
    CHECK(second.compressed_bytes == 37127);
    CHECK(second.raw_bytes == 125375);
}

TEST_CASE("the recorded metadata holds 528 entries and no series") {
    const totals sums = read_folder("metadata-v1", read_file<write_request_reader>);
    CHECK(sums.metadata == 528);
    CHECK(sums.entries == 0);
}

}  // namespace
}  // namespace seriesgate::testing::recorded_requests_test
