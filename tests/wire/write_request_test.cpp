#include "wire/write_request.hpp"
#include "support/catch.hpp"
#include "wire/malformed.hpp"
#include "wire/wire_bytes_v2.hpp"
#include "wire/wire_error.hpp"

namespace seriesgate::testing::write_request_test {
namespace {

read_request read(const std::string& text) {
    return read_by<write_request_reader>(text);
}

read_entry read_one(const std::string& text) {
    auto outcome = read(text);
    REQUIRE(outcome.error == wire_errc::none);
    REQUIRE(outcome.series.size() == 1);
    return outcome.series.front();
}

/// Of a request whose only series is left out.
series_fault fault_of(const std::string& text) {
    const auto outcome = read(text);
    REQUIRE(outcome.error == wire_errc::none);
    CHECK(outcome.series.empty());
    REQUIRE(outcome.left_out.size() == 1);
    return outcome.left_out.front();
}

const std::string job = label("job", "a");
const std::string name = label("__name__", "up");
const label_texts name_and_job{{"__name__", "up"}, {"job", "a"}};

/// up{job="a"} 1 @1700000000000, from the fact sheet.
const std::string documented_example =
    "\x0a\x2c"
    "\x0a\x0e\x0a\x08__name__\x12\x02up"
    "\x0a\x08\x0a\x03job\x12\x01"
    "a\x12\x10\x09\x00\x00\x00\x00\x00\x00\xf0\x3f\x10\x80\xd0\x95\xff\xbc\x31"s;

TEST_CASE("an empty body is a request without series") {
    const auto outcome = read("");
    CHECK(outcome.error == wire_errc::none);
    CHECK(outcome.series.empty());
    CHECK(outcome.metadata == 0);
}

TEST_CASE("a series is read with its labels, its counts and its byte range") {
    const auto series = read_one(documented_example);
    CHECK(series.record == documented_example);
    CHECK(series.labels == name_and_job);
    CHECK(series.samples == 1);
    CHECK(series.histograms == 0);
    CHECK(series.exemplars == 0);
    CHECK(series.admits);
}

TEST_CASE("series come in order, each with its own range, whatever stands between them") {
    const std::string first = series({name, sample(1)});
    const std::string second = series({job, sample(2), sample(3)});
    const std::string between = varint_field(2, 1) + metadata("up") + len_field(1000, "vendor");
    const std::string body = between + first + between + second + first + between;

    const auto outcome = read(body);
    REQUIRE(outcome.error == wire_errc::none);
    REQUIRE(outcome.series.size() == 3);
    CHECK(outcome.series[0].record == first);
    CHECK(outcome.series[1].record == second);
    CHECK(outcome.series[1].samples == 2);
    CHECK(outcome.series[2].record == first);
    CHECK(outcome.series[2].samples == 1);
    CHECK(outcome.metadata == 3);

    write_request_reader reader{body};
    REQUIRE(reader.next());
    CHECK(reader.series().record.offset == between.size());
    CHECK(reader.series().record.end() == between.size() + first.size());
}

TEST_CASE("a reader that is reset forgets the request before") {
    write_request_reader reader{documented_example};
    REQUIRE(reader.next());
    const std::string wrong = metadata("up") + "\x0a\x05";
    reader.reset(wrong);
    CHECK_FALSE(reader.next());
    CHECK(reader.failed());
    CHECK(reader.metadata_count() == 1);
    reader.reset(documented_example);
    CHECK_FALSE(reader.failed());
    CHECK(reader.metadata_count() == 0);
    CHECK(reader.next());
    CHECK_FALSE(reader.next());
    CHECK_FALSE(reader.failed());
}

TEST_CASE("the order of fields inside a series is free") {
    CHECK(read_one(series({name, job, sample(1)})).labels == name_and_job);
    CHECK(read_one(series({name, job})).labels == name_and_job);
    CHECK(read_one(series({sample(1), name, job})).labels == name_and_job);
    CHECK(read_one(series({name, sample(1), job})).labels == name_and_job);
    CHECK(read_one(series({name, varint_field(6, 1), job, sample(1)})).labels == name_and_job);
    CHECK(read_one(series({job, name, sample(1)})).labels == label_texts{{"job", "a"}, {"__name__", "up"}});
}

TEST_CASE("a label may be written in other ways than the shortest") {
    const std::string name_field = len_field(1, "job");
    const std::string value_field = len_field(2, "a");
    const auto read_label = [](const std::string& payload) { return read_one(series({len_field(1, payload)})); };

    const std::string other_name = len_field(1, "other");
    const std::string unknown = len_field(7, "new");
    // The last one counts.
    for (const std::string& payload :
         {value_field + name_field, other_name + name_field + value_field, other_name + value_field + name_field,
          name_field + len_field(2, "other") + value_field, unknown + name_field + value_field,
          name_field + unknown + value_field, name_field + value_field + unknown})
        CHECK(read_label(payload).labels == label_texts{{"job", "a"}});
    for (const std::string& payload :
         {name_field + value_field + len_field(2, ""), name_field, name_field + len_field(2, "")})
        CHECK(read_label(payload).labels == label_texts{{"job", ""}});
    SECTION("padded lengths of name, value and label") {
        for (std::size_t size = 2; size <= 5; ++size) {
            CAPTURE(size);
            for (const std::string& record : {len_field(1, padded_len_field(1, "job", size) + value_field),
                                              len_field(1, name_field + padded_len_field(2, "a", size)),
                                              padded_len_field(1, name_field + value_field, size)}) {
                const auto seen = read_one(series({record}));
                CHECK(seen.labels == label_texts{{"job", "a"}});
            }
        }
    }
    SECTION("one odd label among others") {
        const auto seen = read_one(series({name, len_field(1, value_field + name_field), label("zone", "b")}));
        CHECK(seen.labels.size() == 3);
    }
}

TEST_CASE("labels of every length are read") {
    for (const std::size_t size :
         {1u, 2u, 115u, 116u, 117u, 118u, 119u, 120u, 121u, 122u, 123u, 127u, 128u, 129u, 16383u, 16384u, 65536u}) {
        CAPTURE(size);
        const std::string text(size, 'x');
        const std::string long_value = label("n", text);
        const std::string long_name = label(text, "v");
        const auto seen = read_one(series({long_value, long_name, sample(1)}));
        CHECK((seen.labels == label_texts{{"n", text}, {text, "v"}}));
        // Not at the end of the body, where labels are read with more care.
        const std::string two =
            series({long_value, long_name, sample(1)}) + series({label("n", std::string(200, 'x'))});
        const auto first = read(two);
        REQUIRE(first.series.size() == 2);
    }
}

TEST_CASE("the length of a series record may be padded") {
    const auto seen = read_one(padded_len_field(1, name + sample(1), 5));
    CHECK(seen.record == padded_len_field(1, name + sample(1), 5));
    CHECK(seen.samples == 1);
}

TEST_CASE("a series is admitted by a sample or histogram other than a stale marker") {
    const std::uint64_t plain_nan = 0x7ff8000000000001;
    // With samples and histograms of every value: differential_test.cpp.
    CHECK_FALSE(read_one(series({name, exemplar()})).admits);
    for (const std::uint64_t nan :
         {plain_nan, stale_marker_bits | 0x8000000000000000, stale_marker_bits | 0x0008000000000000})
        CHECK(read_one(series({name, sample_bits(nan)})).admits);
    const auto marked = read_one(series({name, sample_bits(stale_marker_bits), histogram_bits(stale_marker_bits)}));
    CHECK_FALSE(marked.admits);
    CHECK(std::pair{marked.samples, marked.histograms} == std::pair{1u, 1u});
    SECTION("a value that comes twice: the last one counts") {
        const std::string one = fixed64_field(1, 0);
        const std::string stale = fixed64_field(1, stale_marker_bits);
        CHECK_FALSE(read_one(series({name, len_field(2, one + stale)})).admits);
        CHECK(read_one(series({name, len_field(2, stale + one)})).admits);
    }
    SECTION("nothing is left over from the series before") {
        const auto outcome = read(series({name, sample(1)}) + series({name, sample_bits(stale_marker_bits)}));
        REQUIRE(outcome.series.size() == 2);
        CHECK_FALSE(outcome.series[1].admits);
    }
}

TEST_CASE("the numbers of a histogram may be packed or not") {
    const std::string unpacked = join(
        {varint_field(9, 1), fixed64_field(10, 1), varint_field(12, 1), fixed64_field(13, 1), fixed64_field(16, 1)});
    CHECK(read_one(series({name, len_field(4, unpacked)})).histograms == 1);
}

TEST_CASE("a request cut short anywhere inside a record is refused as truncated") {
    const std::string whole = documented_example + metadata("up") +
                              series({name, exemplar(), histogram_bits(1), len_field(4, len_field(9, varint(300)))});
    for (std::size_t size = 0; size < whole.size(); ++size) {
        CAPTURE(size);
        const bool between_records =
            size == 0 || size == documented_example.size() || size == documented_example.size() + metadata("up").size();
        CHECK(read(whole.substr(0, size)).error == (between_records ? wire_errc::none : wire_errc::truncated));
    }
}

TEST_CASE("a length that runs past the end of its own message is refused, though the body goes on") {
    const std::string behind = series({name, sample(1)});
    for (const std::string& record : {len_field(1, "\x0a\x05"), series({len_field(1, "\x0a\x09x"), sample(1)}),
                                      series({len_field(1, len_field(1, "job") + "\x12\x02x"), sample(1)}),
                                      series({len_field(2,
                                                        "\x09"
                                                        "1234567"),
                                              sample(1)})})
        CHECK(read(record + behind).error == wire_errc::truncated);
}

TEST_CASE("each malformed request is refused with its code and the byte where it is wrong") {
    const std::string good = series({name, sample(1)});
    const auto nested = [&good](const char* what, std::initializer_list<std::uint32_t> path,
                                const std::string& inside_before, const std::string& wrong,
                                wire_errc code) { return nested_behind(good, what, path, inside_before, wrong, code); };
    using enum wire_errc;
    const std::string whole_group = "\x0b\x0c";
    const std::string field_zero = "\x02\x01x";
    const std::string padded_tag = "\x8a\x00\x01x"s;
    const std::string tag_over_32_bits = varint(0x10000000a) + "\x01x";
    const std::string tag_over_35_bits = varint(0x80000000a) + "\x01x";
    const std::string long_value = tag(20, wire_type::varint) + varint(1, 11);

    const std::vector<malformed> examples{
        {"request: field 1 as varint", good, varint_field(1, 1), wrong_wire_type},
        {"request: field 3 as fixed64", good, fixed64_field(3, 1), wrong_wire_type},
        {"request: group", good, whole_group, group},
        {"request: end of group", good, "\x14", group},
        {"request: field 0", good, field_zero, field_number_zero},
        {"request: wire type 6", good, "\x16", unknown_wire_type},
        {"request: wire type 7", good, "\x17", unknown_wire_type},
        {"request: padded tag", good, padded_tag, tag_not_canonical},
        {"request: tag of 2^32", good, tag_over_32_bits, tag_not_canonical},
        {"request: tag of 2^35", good, tag_over_35_bits, tag_not_canonical},
        {"request: tag of 11 bytes", good, varint(0x0a, 11) + "\x01x", varint_too_long},
        {"request: series length of 6 bytes", good, padded_len_field(1, name, 6), varint_too_long},
        {"request: series length of 11 bytes", good, padded_len_field(1, name, 11), varint_too_long},
        {"request: unknown varint of 11 bytes", good, long_value, varint_too_long},
        {"request: unknown field cut short", good, "\x7a\x05x", truncated},
        {"request: series cut short", good, "\x0a\x05\x0a\x01", truncated},

        nested("series: labels as varint", {1}, name, varint_field(1, 1), wrong_wire_type),
        nested("series: samples as fixed64", {1}, name, fixed64_field(2, 1), wrong_wire_type),
        nested("series: exemplars as varint", {1}, name, varint_field(3, 1), wrong_wire_type),
        nested("series: histograms as fixed32", {1}, name, fixed32_field(4, "abcd"), wrong_wire_type),
        nested("series: group", {1}, name, whole_group, group),
        nested("series: field 0", {1}, name, field_zero, field_number_zero),
        nested("series: padded tag", {1}, name, padded_tag, tag_not_canonical),
        nested("series: tag of 2^32", {1}, name, tag_over_32_bits, tag_not_canonical),
        nested("series: label length of 6 bytes", {1}, name, padded_len_field(1, "x", 6), varint_too_long),

        nested("label: name as varint", {1, 1}, "", varint_field(1, 1), wrong_wire_type),
        nested("label: value as fixed64", {1, 1}, len_field(1, "job"), fixed64_field(2, 1), wrong_wire_type),
        nested("label: group", {1, 1}, len_field(1, "job"), whole_group, group),
        nested("label: field 0", {1, 1}, len_field(1, "job"), field_zero, field_number_zero),
        nested("label: padded tag", {1, 1}, len_field(2, "a"), padded_tag, tag_not_canonical),
        nested("label: tag of 2^32", {1, 1}, len_field(2, "a"), tag_over_32_bits, tag_not_canonical),
        nested("label: name length of 6 bytes", {1, 1}, "", padded_len_field(1, "job", 6), varint_too_long),

        nested("sample: value as varint", {2, 1}, "", varint_field(1, 1), wrong_wire_type),
        nested("sample: value as fixed32", {2, 1}, "", fixed32_field(1, "abcd"), wrong_wire_type),
        nested("sample: timestamp as fixed64", {2, 1}, fixed64_field(1, 0), fixed64_field(2, 1), wrong_wire_type),
        nested("sample: timestamp as bytes", {2, 1}, fixed64_field(1, 0), len_field(2, "x"), wrong_wire_type),
        nested("sample: timestamp of 65 bits", {2, 1}, "", "\x10" + std::string(9, '\xff') + "\x02", varint_too_long),
        nested("sample: group", {2, 1}, "", whole_group, group),
        nested("sample: padded tag", {2, 1}, fixed64_field(1, 0), "\x89\x00"s + fixed64(1), tag_not_canonical),

        nested("exemplar: labels as varint", {3, 1}, "", varint_field(1, 1), wrong_wire_type),
        nested("exemplar: value as varint", {3, 1}, "", varint_field(2, 1), wrong_wire_type),
        nested("exemplar: timestamp as bytes", {3, 1}, "", len_field(3, "x"), wrong_wire_type),
        nested("exemplar: group", {3, 1}, label("a", "b"), whole_group, group),
        nested("exemplar label: name as varint", {1, 3, 1}, "", varint_field(1, 1), wrong_wire_type),
        nested("exemplar label: padded tag", {1, 3, 1}, len_field(1, "x"), padded_tag, tag_not_canonical),

        nested("histogram: count as fixed64", {4, 1}, "", fixed64_field(1, 1), wrong_wire_type),
        nested("histogram: sum as varint", {4, 1}, "", varint_field(3, 1), wrong_wire_type),
        nested("histogram: spans as varint", {4, 1}, "", varint_field(8, 1), wrong_wire_type),
        nested("histogram: deltas as fixed64", {4, 1}, "", fixed64_field(9, 1), wrong_wire_type),
        nested("histogram: counts as varint", {4, 1}, "", varint_field(13, 1), wrong_wire_type),
        nested("histogram: custom values as varint", {4, 1}, "", varint_field(16, 1), wrong_wire_type),
        nested("histogram: timestamp as fixed64", {4, 1}, "", fixed64_field(15, 1), wrong_wire_type),
        nested("histogram: deltas end inside a varint", {4, 1}, "", len_field(9, "\x01\x80"), packed_truncated),
        nested("histogram: delta of 11 bytes", {4, 1}, "", len_field(12, varint(1, 11)), packed_truncated),
        nested("histogram: counts end inside a double", {4, 1}, "", len_field(10, "123456789"), packed_truncated),
        nested("histogram: custom values likewise", {4, 1}, "", len_field(16, "1234567"), packed_truncated),
        nested("histogram: group", {4, 1}, "", whole_group, group),
        nested("bucket span: offset as fixed64", {8, 4, 1}, "", fixed64_field(1, 1), wrong_wire_type),
        nested("bucket span: length as bytes", {11, 4, 1}, varint_field(1, 1), len_field(2, "x"), wrong_wire_type),
        nested("bucket span: padded tag", {11, 4, 1}, "", "\x88\x00\x01"s, tag_not_canonical),

        nested("metadata: type as bytes", {3}, "", len_field(1, "x"), wrong_wire_type),
        nested("metadata: help as varint", {3}, varint_field(1, 1), varint_field(4, 1), wrong_wire_type),
        nested("metadata: unit as fixed32", {3}, "", fixed32_field(5, "abcd"), wrong_wire_type),
        nested("metadata: group", {3}, "", whole_group, group),
        nested("metadata: cut short", {3}, varint_field(1, 1), "\x12\x05x", truncated),
    };
    check_malformed(examples, read);
}

TEST_CASE("a series with a label without a name is left out, for VictoriaMetrics takes it for the metric's name") {
    for (const std::string& wrong :
         {series({len_field(1, "")}), series({len_field(1, len_field(2, "up"))}), series({label("", "up"), sample(1)}),
          series({len_field(1, len_field(1, "job") + len_field(2, "a") + len_field(1, ""))})})
        CHECK(fault_of(wrong) == series_fault::label_without_name);
    SECTION("an exemplar's labels make no series and are left to the store") {
        CHECK(read_one(series({name, len_field(3, label("", "x"))})).exemplars == 1);
    }
}

TEST_CASE("what is left out has its counts apart, and the series around it are read as ever") {
    const std::string good = series({name, sample(1)});
    const std::string wrong = series({name, label("", "x"), sample(1), sample(2), len_field(3, ""), len_field(4, "")});
    const std::string body = good + wrong + good;
    write_request_reader reader{body};
    REQUIRE(reader.next());
    CHECK(reader.left_out() == nullptr);
    REQUIRE(reader.next());
    REQUIRE(reader.left_out() != nullptr);
    CHECK(*reader.left_out() ==
          left_out_series{.fault = series_fault::label_without_name, .samples = 2, .histograms = 1, .exemplars = 1});
    CHECK_FALSE(reader.series().holds_data());
    CHECK(slice(body, reader.series().record) == wrong);
    std::vector<label_view> labels;
    reader.labels(reader.series().record, labels);
    REQUIRE(labels.size() == 2);
    CHECK(labels[0].value == "up");
    CHECK(labels[1].name.empty());
    REQUIRE(reader.next());
    CHECK(reader.left_out() == nullptr);
    CHECK(reader.series().samples == 1);
    CHECK_FALSE(reader.next());
    CHECK_FALSE(reader.failed());
}

TEST_CASE("an entry is left out only if its Protocol Buffers are sound") {
    const std::string wrong_label = label("", "x");
    CHECK(read(len_field(1, wrong_label + "\x12\x05\x09")).error == wire_errc::truncated);
    CHECK(read(len_field(1, wrong_label + varint_field(2, 1))).error == wire_errc::wrong_wire_type);
    CHECK(read(len_field(1, wrong_label + len_field(1, "\x0a\x05x"))).error == wire_errc::truncated);
}

TEST_CASE("version 2's symbols and series are no fields of version 1, whatever a store makes of them") {
    for (const std::uint32_t field : {4u, 5u}) {
        const std::string before = series({name, sample(1)});
        const auto outcome = read(before + len_field(field, "x"));
        CHECK(outcome.error == wire_errc::field_of_version_2);
        CHECK(outcome.offset == before.size());
    }
    CHECK(read(varint_field(4, 1) + len_field(6, "x")).error == wire_errc::none);
}

TEST_CASE("a request has at most 2^20 series entries") {
    std::string most;
    for (std::size_t i = 0; i < series_per_request_max; ++i) most += "\x0a\x00"s;
    const std::string more = most + "\x0a\x00"s;
    write_request_reader reader;
    CHECK(entries_in(reader, most) == series_per_request_max);
    CHECK_FALSE(reader.failed());
    CHECK(entries_in(reader, more) == series_per_request_max);
    CHECK(reader.error().code == wire_errc::series_over_limit);
    CHECK(reader.error().offset == most.size());
    // Counted for each request anew.
    CHECK(entries_in(reader, most) == series_per_request_max);
    CHECK_FALSE(reader.failed());
}

TEST_CASE("a series has at most 1024 labels") {
    const auto with_labels = [](std::size_t count) {
        std::string labels;
        for (std::size_t i = 0; i < count; ++i) labels += label("name" + std::to_string(i), "v");
        return len_field(1, labels + sample(1));
    };
    CHECK(read_one(with_labels(labels_per_series_max)).labels.size() == 1024);
    CHECK(fault_of(with_labels(labels_per_series_max + 1)) == series_fault::too_many_labels);
    SECTION("of others the first are shown, and no more are kept") {
        CHECK(fault_of(with_labels(10000)) == series_fault::too_many_labels);
    }
    SECTION("counted for each series anew") {
        CHECK(read(with_labels(1024) + with_labels(1024)).error == wire_errc::none);
    }
}

TEST_CASE("a request has at most 2^22 labels of series whose labels are in no order") {
    std::string labels;
    for (std::size_t i = 0; i < labels_per_series_max / 2; ++i) labels += label("b", "") + label("a", "");
    const std::string unordered = len_field(1, labels + sample(1));
    std::string most;
    constexpr auto count = unordered_labels_per_request_max / labels_per_series_max;
    for (std::size_t i = 0; i < count; ++i) most += unordered;
    const std::string body = most + series({name, job, sample(1)}) + series({job, name, sample(1)});
    write_request_reader reader;
    CHECK(entries_in(reader, body) == count + 1);  // those in order are not concerned
    CHECK(reader.error().code == wire_errc::unordered_labels_over_limit);
    // Counted for each request anew.
    CHECK(entries_in(reader, unordered) == 1);
    CHECK(reader.unordered_labels() == labels_per_series_max);
}

TEST_CASE("a label's name and value have at most 256 KiB each") {
    const std::string most(label_bytes_max, 'x');
    const std::string more = most + 'x';
    CHECK(read(series({label(most, most)})).error == wire_errc::none);
    CHECK(fault_of(series({label(more, "a")})) == series_fault::label_too_long);
    CHECK(fault_of(series({label("job", more)})) == series_fault::label_too_long);
    CHECK(fault_of(series({label("job", std::string(1 << 20, 'x'))})) == series_fault::label_too_long);
}

TEST_CASE("an error comes after the series before it, and stays with its byte when the reader is asked again") {
    const std::string good = series({name, sample(1)}) + series({job, sample(1)});
    const std::string deep_inside = series({name, sample(1), len_field(2, varint_field(1, 1))});
    struct row {
        std::string body;
        wire_errc code;
        std::size_t from_end;
    };
    for (const auto& [body, code, from_end] :
         std::vector<row>{{good + "\x0c", wire_errc::group, 1}, {good + deep_inside, wire_errc::wrong_wire_type, 2}}) {
        write_request_reader reader;
        CHECK(entries_in(reader, body) == 2);
        for (int again = 0; again < 3; ++again) {
            CHECK_FALSE(reader.next());
            CHECK(reader.error().code == code);
            CHECK(reader.error().offset == body.size() - from_end);
        }
    }
}

}  // namespace
}  // namespace seriesgate::testing::write_request_test
