#include "plan/marker.hpp"

#include <bit>

#include "remote_write_v1.pb.h"
#include "support/catch.hpp"
#include "wire/decompression.hpp"
#include "wire/sample_records.hpp"
#include "wire/write_request.hpp"

using namespace seriesgate;

namespace {

constexpr time_point start = std::chrono::sys_days{std::chrono::year{2026} / 3 / 10} + 10h;

std::int64_t ms(time_point at) {
    return std::chrono::duration_cast<std::chrono::milliseconds>(at.time_since_epoch()).count();
}

marker_name named(std::string limit, std::string tenant = "") {
    return {.tenant = std::move(tenant), .limit = std::move(limit), .group = "", .of_tenant = ""};
}

/// "tenant: limit=value@seconds-since-start", a line each; `ends` for an end.
std::string shown(const std::vector<marker_request>& requests) {
    std::string text;
    for (const marker_request& request : requests)
        for (const marker_sample& each : request.samples) {
            CHECK(each.name.tenant == request.tenant);
            text += request.tenant + ": " + each.name.limit + "=" +
                    (each.series_refused ? std::to_string(*each.series_refused) : "ends") + "@" +
                    std::to_string(each.timestamp - ms(start)) + "\n";
        }
    return text;
}

/// Makes what is next and says that all of it was taken, or not.
std::string told_text(written_markers& markers, const marker_values& values, time_point now, bool is_taken = true) {
    const auto requests = markers.next(values, now);
    for (const marker_request& each : requests) markers.sent(each, is_taken, now);
    return shown(requests);
}

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

TEST_CASE("a minute is told once, from its beginning") {
    marker_turn turn;
    CHECK(turn.take(start + 30s));
    CHECK_FALSE(turn.take(start + 30s));
    CHECK_FALSE(turn.take(start + 59s));
    CHECK(turn.take(start + 60s));
    CHECK_FALSE(turn.take(start + 61s));
    CHECK(turn.take(start + 3h));
    CHECK(turn.take(start - 1ns));  // the clock was set back
    CHECK_FALSE(turn.take(start - 2ns));
}

TEST_CASE("values are told until they are gone, then their end, once") {
    written_markers markers;
    CHECK(told_text(markers, {}, start).empty());
    CHECK(told_text(markers, {{named("a"), 1}, {named("b"), 2}}, start) == ": a=1@0\n: b=2@0\n");
    CHECK(told_text(markers, {{named("b"), 3}, {named("c"), 1}}, start + 1min) ==
          ": a=ends@60000\n: b=3@60000\n: c=1@60000\n");
    CHECK(told_text(markers, {}, start + 2min) == ": b=ends@120000\n: c=ends@120000\n");
    CHECK(told_text(markers, {}, start + 3min).empty());
    CHECK(markers.size() == 0);
}

TEST_CASE("each tenant has one request") {
    written_markers markers;
    const marker_values values{{named("a", "x"), 1}, {named("b", "x"), 2}, {named("a", "y"), 3}, {named("a"), 4}};
    const auto requests = markers.next(values, start);
    REQUIRE(requests.size() == 3);
    CHECK(shown(requests) == ": a=4@0\nx: a=1@0\nx: b=2@0\ny: a=3@0\n");
    for (const marker_request& each : requests) markers.sent(each, true, start);
    CHECK(told_text(markers, {{named("b", "x"), 2}}, start + 1min) ==
          ": a=ends@60000\nx: a=ends@60000\nx: b=2@60000\ny: a=ends@60000\n");
}

TEST_CASE("samples get later though the clock stands still or is set back") {
    written_markers markers;
    const marker_values values{{named("a"), 1}};
    CHECK(told_text(markers, values, start) == ": a=1@0\n");
    CHECK(told_text(markers, values, start) == ": a=1@1\n");
    CHECK(told_text(markers, values, start - 1min) == ": a=1@2\n");
    CHECK(told_text(markers, {}, start - 1min) == ": a=ends@3\n");
}

TEST_CASE("an end that was not taken is told again, later, for five minutes") {
    written_markers markers;
    CHECK(told_text(markers, {{named("a"), 1}}, start) == ": a=1@0\n");
    CHECK(told_text(markers, {}, start + 1min, false) == ": a=ends@60000\n");
    CHECK(told_text(markers, {}, start + 1min, false) == ": a=ends@60001\n");
    CHECK(told_text(markers, {}, start + 5min, false) == ": a=ends@300000\n");
    CHECK(told_text(markers, {}, start + 6min).empty());
    CHECK(markers.size() == 0);
}

TEST_CASE("a value that was not taken may be there all the same, and is ended") {
    written_markers markers;
    CHECK(told_text(markers, {{named("a"), 1}}, start, false) == ": a=1@0\n");
    CHECK(markers.size() == 1);
    CHECK(told_text(markers, {}, start + 1min) == ": a=ends@60000\n");
    CHECK(markers.size() == 0);
}

TEST_CASE("what was not sent is not remembered") {
    written_markers markers;
    CHECK(shown(markers.next({{named("a"), 1}}, start)) == ": a=1@0\n");
    CHECK(told_text(markers, {}, start + 1min).empty());
}

TEST_CASE("a store that takes nothing leaves markers of five minutes at most") {
    written_markers markers;
    for (int minute = 0; minute < 60; ++minute) {
        marker_values values;
        for (int i = 0; i < 10; ++i) values.emplace(named(std::to_string(minute) + "-" + std::to_string(i)), 1);
        told_text(markers, values, start + std::chrono::minutes{minute}, false);
        CHECK(markers.size() <= 60);
    }
}

TEST_CASE("after a round that was broken off the tenants that were left come first") {
    written_markers markers;
    const marker_values values{{named("l"), 1}, {named("l", "a"), 2}, {named("l", "b"), 3}, {named("l", "c"), 4}};
    auto requests = markers.next(values, start);
    REQUIRE(requests.size() == 4);
    markers.broke_off(requests[1]);
    requests = markers.next(values, start);
    CHECK(shown(requests) == "b: l=3@0\nc: l=4@0\n: l=1@0\na: l=2@0\n");
    markers.broke_off(requests[1]);  // there are none behind it
    requests = markers.next(values, start);
    CHECK(shown(requests) == ": l=1@0\na: l=2@0\nb: l=3@0\nc: l=4@0\n");
    markers.broke_off({.tenant = "gone", .samples = {}});
    CHECK(shown(markers.next({{named("l", "a"), 1}}, start)) == "a: l=1@0\n");
    CHECK(markers.next({}, start).empty());
}

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
