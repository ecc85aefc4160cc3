#include "plan/marker.hpp"

#include <bit>

#include "remote_write_v1.pb.h"
#include "support/catch.hpp"
#include "wire/decompression.hpp"
#include "wire/sample_records.hpp"
#include "wire/write_request.hpp"

using namespace seriesgate;

namespace {

std::string decoded_marker(const std::string& body) {
    decode_buffer room;
    const auto raw = snappy_decode(body, 1 << 24, room);
    REQUIRE(raw.has_value());
    return std::string{*raw};
}

prometheus::WriteRequest parsed_marker(const std::string& body) {
    prometheus::WriteRequest message;
    REQUIRE(message.ParseFromString(decoded_marker(body)));
    return message;
}

/// `name="value",...` in their order.
std::string labels_in_order(const prometheus::TimeSeries& series) {
    std::string text;
    for (const auto& each : series.labels())
        text.append(text.empty() ? "" : ",").append(each.name()).append("=").append(each.value());
    return text;
}

}  // namespace

TEST_CASE("a marker is a series with the labels that it has, in their order") {
    const marker_request request{
        .tenant = "raw\xff",
        .samples = {{.name = {.tenant = "raw\xff",
                              .limit = "per-job",
                              .group = "{job=\"x\"}",
                              .of_tenant = "raw\\xff",
                              .window = refusing_window::daily},
                     .series_refused = 12,
                     .timestamp = 1'767'261'660'000},
                    {.name = {.tenant = "raw\xff", .limit = "global", .group = "", .of_tenant = ""},
                     .series_refused = std::nullopt,
                     .timestamp = 1'767'261'660'001}}};
    const auto message = parsed_marker(encode(request, "host:9201"));
    REQUIRE(message.timeseries_size() == 2);
    CHECK(labels_in_order(message.timeseries(0)) ==
          "__name__=seriesgate_series_refused,gate=host:9201,group={job=\"x\"},limit=per-job,tenant=raw\\xff,"
          "window=daily");
    CHECK(labels_in_order(message.timeseries(1)) ==
          "__name__=seriesgate_series_refused,gate=host:9201,limit=global,window=hourly");
    REQUIRE(message.timeseries(0).samples_size() == 1);
    CHECK(message.timeseries(0).samples(0).value() == 12.0);
    CHECK(message.timeseries(0).samples(0).timestamp() == 1'767'261'660'000);
    REQUIRE(message.timeseries(1).samples_size() == 1);
    CHECK(std::bit_cast<std::uint64_t>(message.timeseries(1).samples(0).value()) == stale_marker_bits);
    CHECK(message.timeseries(1).samples(0).timestamp() == 1'767'261'660'001);
}

TEST_CASE("a gate would take a thousand of them, and read a sample in each") {
    marker_request request{.tenant = "", .samples = {}};
    for (std::size_t i = 0; i < markers_max; ++i)
        request.samples.push_back({.name = {.tenant = "",
                                            .limit = std::string(marker_text_bytes_max, 'l'),
                                            .group = std::string(marker_text_bytes_max - 4, 'g') + std::to_string(i),
                                            .of_tenant = std::string(marker_text_bytes_max, 't')},
                                   .series_refused = i,
                                   .timestamp = 1});
    const std::string raw = decoded_marker(encode(request, "gate"));
    CHECK(raw.size() < 4u << 20);
    write_request_reader reader{raw};
    std::size_t count = 0;
    while (reader.next()) count += reader.series().samples;
    CHECK_FALSE(reader.failed());
    CHECK(count == markers_max);
}
