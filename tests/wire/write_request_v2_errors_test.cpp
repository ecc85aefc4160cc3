#include <initializer_list>

#include "support/catch.hpp"
#include "wire/malformed.hpp"
#include "wire/wire_bytes_v2.hpp"
#include "wire/write_request_v2.hpp"

namespace seriesgate::testing::write_request_v2_errors_test {
namespace {

using enum wire_errc;

const std::string up_refs = refs({1, 2, 3, 4});

std::string good_series() {
    return std::string{five_symbols}.append(entry({up_refs, sample(1)}));
}

/// Wrong at the top level, which is read first.
malformed top(const char* what, const std::string& wrong, wire_errc code) {
    return {what, good_series(), wrong, code, 0};
}

malformed nested(const char* what, std::initializer_list<std::uint32_t> path, const std::string& inside_before,
                 const std::string& wrong, wire_errc code) {
    return nested_behind(good_series(), what, path, inside_before, wrong, code);
}

const std::string whole_group = "\x0b\x0c";
const std::string field_zero = "\x02\x01x";
const std::string padded_tag = "\x8a\x00\x01x"s;
const std::string tag_over_32_bits = varint(0x10000000a).append("\x01x");

TEST_CASE("v2: malformed bytes are refused with their code and the byte where they are wrong") {
    const std::vector<malformed> examples{
        top("symbols as varint", varint_field(4, 1), wrong_wire_type),
        top("symbols as fixed32", fixed32_field(4, "abcd"), wrong_wire_type),
        top("series as varint", varint_field(5, 1), wrong_wire_type),
        top("group", whole_group, group),
        top("end of a group", "\x2c", group),
        top("field 0", field_zero, field_number_zero),
        top("wire type 6", "\x4e", unknown_wire_type),
        top("padded tag", "\xaa\x00\x00"s, tag_not_canonical),
        top("tag of 2^32", varint(0x10000002a).append("\x01x"), tag_not_canonical),
        top("tag of 2^35", varint(0x80000002a).append("\x01x"), tag_not_canonical),
        top("symbol cut short", "\x22\x05x", truncated),
        top("series cut short", "\x2a\x05\x0a\x01", truncated),
        top("series length of 6 bytes", padded_len_field(5, "x", 6), varint_too_long),
        top("symbol length of 6 bytes", padded_len_field(4, "x", 6), varint_too_long),

        nested("series: refs as fixed32", {5}, up_refs, fixed32_field(1, "abcd"), wrong_wire_type),
        nested("series: samples as fixed64", {5}, up_refs, fixed64_field(2, 1), wrong_wire_type),
        nested("series: histograms as varint", {5}, up_refs, varint_field(3, 1), wrong_wire_type),
        nested("series: exemplars as varint", {5}, up_refs, varint_field(4, 1), wrong_wire_type),
        nested("series: metadata as varint", {5}, up_refs, varint_field(5, 1), wrong_wire_type),
        nested("series: created_timestamp as bytes", {5}, up_refs, len_field(6, "x"), wrong_wire_type),
        nested("series: group", {5}, up_refs, whole_group, group),
        nested("series: field 0", {5}, up_refs, field_zero, field_number_zero),
        nested("series: padded tag", {5}, up_refs, padded_tag, tag_not_canonical),
        nested("series: tag of 2^32", {5}, up_refs, tag_over_32_bits, tag_not_canonical),
        nested("series: refs cut short", {5}, up_refs, "\x0a\x05\x01\x02", truncated),

        nested("sample: value as varint", {2, 5}, "", varint_field(1, 1), wrong_wire_type),
        nested("sample: timestamp as bytes", {2, 5}, "", len_field(2, "x"), wrong_wire_type),
        nested("sample: start as fixed64", {2, 5}, varint_field(2, 1), fixed64_field(3, 1), wrong_wire_type),
        nested("sample: group", {2, 5}, "", whole_group, group),
        nested("histogram: sum as varint", {3, 5}, "", varint_field(3, 1), wrong_wire_type),
        nested("histogram: start as fixed64", {3, 5}, "", fixed64_field(17, 1), wrong_wire_type),
        nested("histogram: deltas end inside a varint", {3, 5}, "", len_field(9, "\x01\x80"), packed_truncated),
        nested("bucket span: offset as fixed64", {8, 3, 5}, "", fixed64_field(1, 1), wrong_wire_type),
        nested("exemplar: refs as fixed64", {4, 5}, "", fixed64_field(1, 1), wrong_wire_type),
        nested("exemplar: value as varint", {4, 5}, refs({3, 4}), varint_field(2, 1), wrong_wire_type),
        nested("exemplar: timestamp as bytes", {4, 5}, "", len_field(3, "x"), wrong_wire_type),
        nested("exemplar: group", {4, 5}, refs({3, 4}), whole_group, group),
        nested("metadata: type as bytes", {5, 5}, "", len_field(1, "x"), wrong_wire_type),
        nested("metadata: help as bytes", {5, 5}, varint_field(1, 1), len_field(3, "x"), wrong_wire_type),
        nested("metadata: unit as fixed32", {5, 5}, "", fixed32_field(4, "abcd"), wrong_wire_type),
        nested("metadata: group", {5, 5}, varint_field(1, 1), whole_group, group),
    };
    check_malformed(examples, read_v2);
}

TEST_CASE("v2: references that end inside are malformed") {
    const std::vector<malformed> examples{
        nested("unpacked of 65 bits", {5}, "", "\x08" + std::string(9, '\xff') + "\x02", varint_too_long),
        nested("a run that ends inside", {1, 5}, "\x01\x02\x03", "\x84", packed_truncated),
        nested("a run that ends inside a long one", {1, 5}, "\x01\x02\x03", "\x84\x80", packed_truncated),
        nested("of 11 bytes", {1, 5}, "\x01", varint(1, 11), packed_truncated),
        nested("of 65 bits", {1, 5}, "\x01", std::string(9, '\xff') + "\x02", packed_truncated),
        nested("exemplar: a run that ends inside", {1, 4, 5}, "\x03", "\x84", packed_truncated),
        nested("behind a fault of the series", {1, 5}, "\x09\x02\x03", "\x84", packed_truncated),
    };
    check_malformed(examples, read_v2);
}

TEST_CASE("v2: a series with a wrong reference is left out alone") {
    const auto packed = [](const std::string& run) { return len_field(1, run); };
    const auto unpacked = [](const std::string& value) { return "\x08" + value; };
    struct example {
        const char* what;
        std::string records;
        series_fault fault;
    };
    using enum series_fault;
    const std::vector<example> examples{
        {"first symbol too many", packed("\x01\x02\x05\x04"), unknown_symbol},
        {"a value's", packed("\x01\x05"), unknown_symbol},
        {"a long way off", packed("\x01\x02\x03" + varint(UINT32_MAX)), unknown_symbol},
        {"2^32 + 1, which parsers cut to 1", packed(varint(0x100000001) + "\x02"), unknown_symbol},
        {"2^63 + 1", packed(varint(0x8000000000000001) + "\x02"), unknown_symbol},
        {"unpacked", unpacked("\x05") + unpacked("\x01"), unknown_symbol},
        {"2^32 + 1 unpacked", unpacked(varint(0x100000001)) + unpacked("\x01"), unknown_symbol},
        {"odd: the last name", packed("\x01\x02\x03"), odd_symbol_refs},
        {"odd: the only one", packed("\x01"), odd_symbol_refs},
        {"odd over two runs", up_refs + packed("\x03"), odd_symbol_refs},
        {"odd unpacked", refs({1, 2}) + unpacked("\x03"), odd_symbol_refs},
        {"exemplar: no such symbol", up_refs + len_field(4, packed("\x03\x05")), unknown_symbol},
        {"exemplar: unpacked", up_refs + len_field(4, unpacked("\x05") + unpacked("\x01")), unknown_symbol},
        {"exemplar: 2^32 + 1", up_refs + len_field(4, packed(varint(0x100000001) + "\x01")), unknown_symbol},
        {"exemplar: odd", up_refs + len_field(4, packed("\x03\x04\x03")), odd_symbol_refs},
        {"metadata: no such help", up_refs + len_field(5, "\x18\x05"), unknown_symbol},
        {"metadata: no such unit", up_refs + len_field(5, "\x18\x02\x20\x05"), unknown_symbol},
        {"metadata: help 2^32 + 1", up_refs + len_field(5, "\x18" + varint(0x100000001)), unknown_symbol},
        {"metadata: corrected later", up_refs + len_field(5, "\x18\x05\x18\x01"), unknown_symbol},
        {"label without a name", packed(std::string{"\x01\x02\0\x04", 4}), label_without_name},
        {"label without a name, unpacked", unpacked(std::string{"\0", 1}) + unpacked("\x04"), label_without_name},
    };
    const std::string good = entry({up_refs, sample(1)});
    for (const auto& [what, records, fault] : examples) {
        INFO(what);
        const auto outcome = read_v2(join({five_symbols, good, entry({records, sample(1)}), good}));
        CHECK(outcome.error == none);
        CHECK(outcome.series.size() == 2);
        CHECK(outcome.left_out == std::vector{fault});
    }
    SECTION("any symbol may be without text, not only the first") {
        const auto outcome = read_v2(symbols({"job", "a", ""}).append(entry({refs({0, 2, 2, 1})})));
        CHECK(outcome.left_out == std::vector{label_without_name});
    }
    SECTION("an exemplar's labels make no series and may be without a name") {
        CHECK(read_one_v2({up_refs, exemplar_v2(refs({0, 4}))}).exemplars == 1);
    }
    SECTION("without symbols every reference that is written is wrong, to help and unit too") {
        CHECK(read_v2(entry({sample(1)})).left_out.empty());
        CHECK(read_v2(entry({refs({0, 0}), sample(1)})).left_out == std::vector{unknown_symbol});
        CHECK(read_v2(entry({sample(1), metadata_v2(0, 0)})).left_out == std::vector{unknown_symbol});
    }
    SECTION("its counts stand apart, and its labels can be read") {
        const std::string body = join({five_symbols, entry({refs({1, 2}), packed("\x03\x09"), sample(1), sample(2),
                                                            histogram_v2_bits(1), exemplar_v2(refs({3, 4}))})});
        write_request_v2_reader reader{body};
        REQUIRE(reader.next());
        REQUIRE(reader.left_out() != nullptr);
        CHECK(*reader.left_out() ==
              left_out_series{.fault = unknown_symbol, .samples = 2, .histograms = 1, .exemplars = 1});
        std::vector<label_view> labels;
        reader.labels(reader.series().record, labels);
        REQUIRE(labels.size() == 2);
        CHECK(labels[0].value == "up");
        CHECK(labels[1].value.empty());
    }
}

TEST_CASE("v2: a request cut short anywhere inside a record is refused") {
    const std::string series = entry({up_refs, sample(1), exemplar_v2(unpacked_refs({3, 4})), histogram_v2_bits(1),
                                      metadata_v2(2, 0), varint_field(6, 300)});
    const std::string whole = std::string{five_symbols}.append(series);
    for (std::size_t size = five_symbols.size() + 1; size < whole.size(); ++size) {
        CAPTURE(size);
        CHECK(read_v2(whole.substr(0, size)).error == truncated);
    }
    for (std::size_t size = 1; size < series.size() - 1; ++size) {
        CAPTURE(size);
        CHECK(read_v2(series.substr(0, size).append(five_symbols)).error != none);
    }
}

TEST_CASE("v2: an error at the top level comes before the first series, and every error stays") {
    const std::string good = good_series();
    write_request_v2_reader reader;
    const std::string at_the_end = std::string{good}.append(good).append("\x0c");
    reader.reset(at_the_end);
    for (int again = 0; again < 3; ++again) {
        CHECK_FALSE(reader.next());
        CHECK(reader.error().code == group);
        CHECK(reader.error().offset == at_the_end.size() - 1);
    }
    const std::string deep_inside = std::string{good}.append(entry({"\x0b"})).append(entry({up_refs}));
    reader.reset(deep_inside);
    CHECK(reader.next());
    for (int again = 0; again < 3; ++again) {
        CHECK_FALSE(reader.next());
        CHECK(reader.error().code == group);
        CHECK(reader.error().offset == good.size() + 2);
    }
}

TEST_CASE("v2: a request has at most 2^20 series entries") {
    std::string most;
    for (std::size_t i = 0; i < series_per_request_max; ++i) most.append("\x2a\x00", 2);
    write_request_v2_reader reader;
    CHECK(entries_in(reader, most) == series_per_request_max);
    CHECK_FALSE(reader.failed());
    most.append("\x2a\x00", 2);
    CHECK(entries_in(reader, most) == 0);
    CHECK(reader.error().code == series_over_limit);
    CHECK(reader.error().offset == most.size() - 2);
}

TEST_CASE("v2: a request has at most 2^22 symbols") {
    std::string most;
    for (std::size_t i = 1; i < symbols_per_request_max; ++i) most.append("\x22\x00", 2);
    most.append(symbols({"job"}));
    const auto last = symbols_per_request_max - 1;
    most.append(entry({refs({last, last}), sample(1)}));
    write_request_v2_reader reader{most};
    REQUIRE(reader.next());
    std::vector<label_view> buffer;
    reader.labels(reader.series().record, buffer);
    CHECK(buffer[0].value == "job");

    const auto size = most.size();
    most.append(symbols({""}));
    reader.reset(most);
    CHECK_FALSE(reader.next());
    CHECK(reader.error().code == symbols_over_limit);
    CHECK(reader.error().offset == size);
}

TEST_CASE("v2: a series has at most 1024 labels") {
    const auto with_labels = [](std::size_t count) {
        std::string packed;
        for (std::size_t i = 0; i < count; ++i) packed.append("\x03\x04");
        return len_field(5, len_field(1, packed));
    };
    const std::string most = with_labels(labels_per_series_max);
    const auto outcome = read_v2(std::string{five_symbols}.append(most).append(most));
    CHECK(outcome.error == none);
    REQUIRE(outcome.series.size() == 2);
    CHECK(outcome.series[1].labels.size() == 1024);
    for (const std::size_t over : {labels_per_series_max + 1, std::size_t{10000}})
        CHECK(read_v2(std::string{five_symbols}.append(with_labels(over))).left_out ==
              std::vector{series_fault::too_many_labels});
}

TEST_CASE("v2: a label's name and value have at most 256 KiB each, other symbols any number") {
    const std::string most(label_bytes_max, 'x');
    const std::string more = std::string{most}.append("x");
    const std::string table = symbols({"", most, more});
    CHECK(read_v2(std::string{table}.append(entry({refs({1, 1}), metadata_v2(2, 2)}))).error == none);
    CHECK(read_v2(std::string{table}.append(entry({refs({1, 1}), metadata_v2(2, 2)}))).left_out.empty());
    for (const std::string& labels : {refs({2, 1}), refs({1, 2})})
        CHECK(read_v2(std::string{table}.append(entry({labels}))).left_out ==
              std::vector{series_fault::label_too_long});
}

TEST_CASE("v2: the labels of a series have at most 1 MiB, however short their references are") {
    const std::string long_text(label_bytes_max, 'x');
    const std::string table = symbols({"", long_text});
    std::string packed;
    for (std::size_t bytes = 0; bytes < label_bytes_per_series_max; bytes += 2 * label_bytes_max)
        packed.append("\x01\x01");
    const std::string most = entry({len_field(1, packed)});
    CHECK(read_v2(join({table, most, most})).error == none);
    const auto outcome = read_v2(join({table, most, entry({len_field(1, packed.append("\x01", 1).append("\0", 1))})}));
    CHECK(outcome.error == none);
    CHECK(outcome.series.size() == 1);
    CHECK(outcome.left_out == std::vector{series_fault::labels_too_long});
}

TEST_CASE("v2: a request has at most 2^22 labels of series whose labels are in no order") {
    std::string packed;
    for (std::size_t i = 0; i < labels_per_series_max / 2; ++i) packed.append("\x02\x01\x01\x01");
    const std::string unordered = entry({len_field(1, packed), sample(1)});
    std::string body = symbols({"", "a", "b"});
    for (std::size_t i = 0; i < unordered_labels_per_request_max / labels_per_series_max; ++i) body.append(unordered);
    body.append(entry({refs({1, 1, 2, 2}), sample(1)})).append(entry({refs({2, 2, 1, 1}), sample(1)}));
    write_request_v2_reader reader;
    CHECK(entries_in(reader, body) == unordered_labels_per_request_max / labels_per_series_max + 1);
    CHECK(reader.error().code == unordered_labels_over_limit);
}

TEST_CASE("v2: references that run past their series, or none at all, where symbols can be copied fast") {
    const std::string room(200, 'x');
    const std::string before = symbols({"", "__name__", "up"});
    CHECK(read_v2(join({before, entry({"\x0a\x05\x01\x02"}), len_field(9, room)})).error == truncated);
    CHECK(read_v2(join({before, entry({refs({}), refs({1}), refs({2})}), len_field(9, room)})).error == none);
    CHECK(read_v2(join({before, entry({refs({1, 2, 1})}), len_field(9, room)})).left_out ==
          std::vector{series_fault::odd_symbol_refs});
}

TEST_CASE("v2: what is left out does not count for the labels of all series") {
    const std::string table = symbols({"", "job", std::string(1'000, 'x')});
    const std::string wrong = entry({refs({1, 2, 0, 2}), exemplar_v2(refs({2, 2})), sample(1)});
    std::string body = table;
    for (int i = 0; i < 100; ++i) body.append(wrong);
    body.append(entry({refs({1, 2}), sample(1)}));
    write_request_v2_reader reader;
    CHECK(entries_in(reader, body, 1'003 + label_frame_bytes) == 101);
    CHECK_FALSE(reader.failed());
}

TEST_CASE("v2: the labels of all series have at most 256 MiB") {
    std::string body = symbols({"", std::string(label_bytes_max, 'x')});
    const std::string series = entry({refs({1, 1}), sample(1)});
    constexpr auto count = symbol_bytes_per_request_max / (2 * label_bytes_max + label_frame_bytes);
    for (std::size_t i = 0; i < count; ++i) body.append(series);
    write_request_v2_reader reader;
    CHECK(entries_in(reader, body) == count);
    CHECK_FALSE(reader.failed());
    const auto size = body.size();
    body.append(series);
    CHECK(entries_in(reader, body) == count);
    CHECK(reader.error().code == request_symbol_bytes_over_limit);
    CHECK(reader.error().offset == size);
}

}  // namespace
}  // namespace seriesgate::testing::write_request_v2_errors_test
