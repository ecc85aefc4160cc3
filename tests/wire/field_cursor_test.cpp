#include "wire/field_cursor.hpp"

#include <bit>
#include <limits>

#include "remote_write_v1.pb.h"
#include "support/catch.hpp"
#include "wire/sample_records.hpp"
#include "wire/wire_bytes.hpp"

namespace seriesgate::testing::field_cursor_test {
namespace {

constexpr auto no_known_fields = std::uint64_t{0};

/// Skips through all of `text`, in memory of exactly its size, so that a sanitizer sees one byte too many.
wire_errc skip_all(const std::string& text, std::uint64_t known = no_known_fields) {
    const std::vector<char> bytes(text.begin(), text.end());
    field_cursor fields{{bytes.data(), bytes.size()}};
    while (fields.next()) fields.skip_unknown(known);
    return fields.error();
}

/// Reads the payload of the one length-delimited field in `text`.
wire_errc read_payload(const std::string& text, std::string& payload) {
    const std::vector<char> bytes(text.begin(), text.end());
    field_cursor fields{{bytes.data(), bytes.size()}};
    if (fields.next()) payload = fields.read_bytes();
    return fields.error();
}

constexpr std::array<label_view, 2> up_of_a{{{"__name__", "up"}, {"job", "a"}}};

TEST_CASE("the cursor reads each kind of field") {
    const std::string message = varint_field(1, 300) + fixed64_field(2, 0x7ff0000000000002) + len_field(3, "payload");
    field_cursor fields{message};

    REQUIRE(fields.next());
    CHECK(fields.tag() == tag_of(1, wire_type::varint));
    CHECK(fields.field_start() == message.data());
    CHECK(fields.read_varint_value() == 300);

    REQUIRE(fields.next());
    CHECK(fields.tag() == tag_of(2, wire_type::fixed64));
    CHECK(fields.field_start() == message.data() + 3);
    CHECK(fields.read_fixed64() == 0x7ff0000000000002);

    REQUIRE(fields.next());
    CHECK(fields.tag() == tag_of(3, wire_type::len));
    CHECK(fields.read_bytes() == "payload");
    CHECK(fields.position() == message.data() + message.size());

    CHECK_FALSE(fields.next());
    CHECK_FALSE(fields.failed());
    CHECK(fields.error() == wire_errc::none);
}

TEST_CASE("an empty message has no fields and no error") {
    field_cursor fields{{}};
    CHECK_FALSE(fields.next());
    CHECK_FALSE(fields.failed());
}

TEST_CASE("unknown fields of every wire type are skipped") {
    CHECK(skip_all(varint_field(9, 1) + fixed64_field(10, 1) + len_field(11, "x") + fixed32_field(12, "abcd")) ==
          wire_errc::none);
    for (const std::uint32_t never_known : {64u, (1u << 29) - 1})
        CHECK(skip_all(varint_field(never_known, 1), ~0ull) == wire_errc::none);
}

TEST_CASE("a known field with another wire type is an error, not an unknown field") {
    constexpr auto known = known_fields(1, 63);
    static_assert(known == ((1ull << 63) | 2));
    CHECK(skip_all(varint_field(1, 1), known) == wire_errc::wrong_wire_type);
    CHECK(skip_all(fixed64_field(1, 1), known) == wire_errc::wrong_wire_type);
    CHECK(skip_all(fixed32_field(63, "abcd"), known) == wire_errc::wrong_wire_type);
    CHECK(skip_all(varint_field(2, 1), known) == wire_errc::none);
}

TEST_CASE("groups, wire types that do not exist and field number 0 are refused") {
    CHECK(skip_all("\x0b\x0c"s) == wire_errc::group);
    CHECK(skip_all("\x0c"s) == wire_errc::group);
    CHECK(skip_all("\x0b\x0c"s, known_fields(1)) == wire_errc::group);
    CHECK(skip_all("\x0e"s) == wire_errc::unknown_wire_type);
    CHECK(skip_all("\x0f\x01"s) == wire_errc::unknown_wire_type);
    for (const char tag_byte : "\x01\x02\x03\x04\x05\x06\x07"s)
        CHECK(skip_all(tag_byte + "\x01"s) == wire_errc::field_number_zero);
    CHECK(skip_all("\0\x01"s) == wire_errc::field_number_zero);
}

TEST_CASE("a tag is accepted only in its shortest form and below 2^32") {
    const std::string payload = varint(1) + "x";
    for (std::size_t size = 2; size <= 10; ++size) {
        CAPTURE(size);
        CHECK(skip_all(varint(0x0a, size) + payload) == wire_errc::tag_not_canonical);
        CHECK(skip_all(varint(0x02, size) + payload) == wire_errc::tag_not_canonical);
    }
    // Padded from two bytes to three; what libprotobuf reads as field 1, and gogo; 64 bits.
    for (const std::string& wrong : {varint(0x82, 3), varint(0x10000000a), varint(0x80000000a), varint(~0ull)})
        CHECK(skip_all(wrong + payload) == wire_errc::tag_not_canonical);
    CHECK(skip_all(varint(0x0a, 11) + payload) == wire_errc::varint_too_long);
    CHECK(skip_all("\x8a"s) == wire_errc::truncated);
}

TEST_CASE("a length may be padded to five bytes, as libprotobuf allows, and no further") {
    std::string payload;
    for (std::size_t size = 1; size <= 5; ++size) {
        CAPTURE(size);
        CHECK(read_payload(padded_len_field(1, "text", size), payload) == wire_errc::none);
        CHECK(payload == "text");
    }
    for (std::size_t size = 6; size <= 11; ++size) {
        CAPTURE(size);
        CHECK(read_payload(padded_len_field(1, "text", size), payload) == wire_errc::varint_too_long);
    }
}

TEST_CASE("a length beyond the message is refused, however large") {
    std::string payload;
    for (const std::uint64_t size : {5ull, 0x7fffffffull, 0x80000000ull, 0xffffffffull}) {
        CAPTURE(size);
        CHECK(read_payload(join({"\x0a", varint(size), "text"}), payload) == wire_errc::truncated);
    }
    CHECK(read_payload(join({"\x0a", varint(~0ull), "text"}), payload) == wire_errc::varint_too_long);
}

TEST_CASE("what ends inside a value is truncated") {
    std::string payload;
    CHECK(read_payload("\x0a"s, payload) == wire_errc::truncated);
    CHECK(read_payload("\x0a\x80"s, payload) == wire_errc::truncated);
    for (const std::string& cut : {"\x08"s, "\x08\xff"s, "\x09"s + "1234567", "\x0d"s + "123"})
        CHECK(skip_all(cut) == wire_errc::truncated);
}

TEST_CASE("a varint value may be padded, but not beyond 64 bits or ten bytes") {
    CHECK(skip_all("\x08" + varint(5, 10)) == wire_errc::none);
    CHECK(skip_all("\x08" + varint(~0ull)) == wire_errc::none);
    CHECK(skip_all("\x08" + std::string(9, '\xff') + "\x02") == wire_errc::varint_too_long);
    CHECK(skip_all("\x08" + varint(5, 11)) == wire_errc::varint_too_long);
}

TEST_CASE("an error sticks: nothing is read after it") {
    const std::string message = "\x0c" + varint_field(1, 1);
    field_cursor fields{message};
    REQUIRE(fields.next());
    fields.skip_unknown(no_known_fields);
    CHECK(fields.failed());
    CHECK_FALSE(fields.next());
    CHECK(fields.read_bytes().empty());
    CHECK(fields.read_fixed64() == 0);
    CHECK(fields.failed());
}

TEST_CASE("a caller may read a field by itself and resume after it") {
    const std::string message = len_field(1, "abc") + varint_field(2, 7);
    field_cursor fields{message};
    REQUIRE(fields.next());
    fields.resume_at(fields.field_start() + 5);
    REQUIRE(fields.next());
    CHECK(fields.tag() == tag_of(2, wire_type::varint));
    CHECK(fields.read_varint_value() == 7);
}

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

}  // namespace
}  // namespace seriesgate::testing::field_cursor_test
