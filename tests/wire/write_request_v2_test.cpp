#include "wire/write_request_v2.hpp"

#include <tuple>

#include "support/catch.hpp"
#include "wire/wire_bytes_v2.hpp"
#include "wire/write_request.hpp"

namespace seriesgate::testing::write_request_v2_test {
namespace {

const std::string up_refs = refs({1, 2, 3, 4});
const label_texts name_and_job{{"__name__", "up"}, {"job", "a"}};
constexpr std::size_t up_bytes = 14 + 2 * label_frame_bytes;  // what these count for the bound

/// up{job="a"} 1 @1700000000000 with empty metadata, from the fact sheet.
const std::string documented_symbols =
    "\x22\x00\x22\x08__name__\x22\x02up\x22\x03job\x22\x01"
    "a"s;
const std::string documented_entry =
    "\x2a\x1a\x0a\x04\x01\x02\x03\x04\x12\x10\x09\x00\x00\x00\x00\x00\x00\xf0\x3f\x10\x80\xd0\x95\xff\xbc\x31\x2a\x00"s;

TEST_CASE("v2: an empty body is a request without series") {
    const auto outcome = read_v2("");
    CHECK(outcome.error == wire_errc::none);
    CHECK(outcome.series.empty());
}

TEST_CASE("v2: the documented example is read with its labels, its counts and its byte range") {
    CHECK(documented_symbols.size() + documented_entry.size() == 52);
    const auto outcome = read_v2(documented_symbols + documented_entry);
    REQUIRE(outcome.error == wire_errc::none);
    REQUIRE(outcome.series.size() == 1);
    const read_entry& series = outcome.series.front();
    CHECK(series.record == documented_entry);
    CHECK(series.labels == name_and_job);
    CHECK(series.samples == 1);
    CHECK(series.histograms == 0);
    CHECK(series.exemplars == 0);
    CHECK(series.admits);
}

TEST_CASE("v2: symbols may stand anywhere, and count in the order of the wire") {
    const std::string series = entry({up_refs, sample(1)});
    for (const std::string& body :
         {five_symbols + series, series + five_symbols,
          join({symbols({"", "__name__"}), series, symbols({"up", "job"}), varint_field(9, 1), symbols({"a"})})}) {
        const auto outcome = read_v2(body);
        CHECK(outcome.error == wire_errc::none);
        REQUIRE(outcome.series.size() == 1);
        CHECK(outcome.series[0].record == series);
        CHECK(outcome.series[0].labels == name_and_job);
    }
}

TEST_CASE("v2: the first symbol need not be empty, and a symbol may come twice") {
    const auto outcome = read_v2(symbols({"job", "a", "job"}).append(entry({refs({0, 1, 2, 2}), sample(1)})));
    CHECK(outcome.error == wire_errc::none);
    REQUIRE(outcome.series.size() == 1);
    CHECK(outcome.series[0].labels == label_texts{{"job", "a"}, {"job", "job"}});
}

TEST_CASE("v2: symbols are bytes, of any length below the bound of a label") {
    const std::string odd = "\xff\0\x80"s;
    const std::string long_text(200, 'x');
    const auto outcome =
        read_v2(symbols({odd, long_text, std::string(20000, 'y')}).append(entry({refs({0, 1, 1, 2}), sample(1)})));
    REQUIRE(outcome.series.size() == 1);
    CHECK((outcome.series[0].labels == label_texts{{odd, long_text}, {long_text, std::string(20000, 'y')}}));
}

TEST_CASE("v2: series come in order, each with its own range, whatever stands between them") {
    const std::string first = entry({up_refs, sample(1)});
    const std::string second = entry({refs({3, 4}), sample(2), sample(3)});
    const std::string between = join({symbols({"x"}), varint_field(6, 1), len_field(1000, "vendor")});
    const std::string body = join({five_symbols, between, first, between, second, first, between});
    const auto outcome = read_v2(body);
    REQUIRE(outcome.error == wire_errc::none);
    REQUIRE(outcome.series.size() == 3);
    CHECK(outcome.series[0].record == first);
    CHECK(outcome.series[1].record == second);
    CHECK(outcome.series[1].samples == 2);
    CHECK(outcome.series[1].labels == label_texts{{"job", "a"}});
    CHECK(outcome.series[2].record == first);
    CHECK(outcome.series[2].samples == 1);
}

TEST_CASE("v2: the labels of any entry can be read again") {
    const std::string body = join({five_symbols, entry({up_refs}), entry({refs({3, 4})}), entry({refs({1, 2})})});
    std::vector<label_view> buffer;
    std::vector<byte_range> records;
    write_request_v2_reader reader{body};
    while (reader.next()) records.push_back(reader.series().record);
    REQUIRE(records.size() == 3);
    reader.labels(records[1], buffer);
    REQUIRE(buffer.size() == 1);
    CHECK(buffer[0].value == "a");
    reader.labels(records[0], buffer);
    CHECK(buffer.size() == 2);
}

TEST_CASE("v2: a reader that is reset forgets the request before") {
    const std::string good = join({five_symbols, entry({up_refs, sample(1)})});
    const std::string without_symbols = entry({up_refs});
    write_request_v2_reader reader{good};
    REQUIRE(reader.next());
    reader.reset(without_symbols);
    CHECK(reader.next());
    REQUIRE(reader.left_out() != nullptr);
    CHECK(reader.left_out()->fault == series_fault::unknown_symbol);
    reader.reset(good);
    CHECK_FALSE(reader.failed());
    CHECK(reader.next());
    CHECK_FALSE(reader.next());
    CHECK_FALSE(reader.failed());
}

TEST_CASE("v2: what an entry's metadata stands for is counted for its own body alone") {
    const std::string help(1'000, 'h');
    const std::string with_metadata =
        join({five_symbols, symbols({help}), entry({up_refs, sample(1), metadata_v2(5, 0)})});
    std::string without = five_symbols;
    for (int i = 0; i < 100; ++i) without += entry({up_refs, sample(1)});
    write_request_v2_reader reader;
    for (const std::string& body : {without, with_metadata, without}) {
        entries_in(reader, body, 100 * up_bytes);  // for one help text, or the labels of a hundred entries
        CHECK_FALSE(reader.failed());
    }
}

TEST_CASE("v2: entries with the metadata of the one before count it each") {
    std::string body = join({five_symbols, symbols({std::string(100, 'h')})});
    for (int i = 0; i < 5; ++i) body += entry({up_refs, sample(1), metadata_v2(5, 0)});
    write_request_v2_reader reader;
    const auto fails_with = [&](std::size_t symbol_bytes_max) {
        entries_in(reader, body, symbol_bytes_max);
        return reader.failed();
    };
    CHECK_FALSE(fails_with(5 * (100 + up_bytes)));
    CHECK(fails_with(5 * (100 + up_bytes) - 1));
}

TEST_CASE("v2: the order of fields inside a series is free") {
    const std::string exemplar = exemplar_v2(refs({3, 4}));
    const std::string metadata = metadata_v2(2, 0);
    const std::string sample_1 = sample(1);
    const std::string histogram = histogram_v2_bits(1);
    const std::initializer_list<std::string_view> as_prometheus{up_refs, sample_1, exemplar, histogram, metadata};
    const std::initializer_list<std::string_view> backwards{metadata, exemplar, histogram, sample_1, up_refs};
    for (const auto& fields : {as_prometheus, backwards}) {
        const auto seen = read_one_v2(fields);
        CHECK(seen.labels == name_and_job);
        CHECK(std::tuple{seen.samples, seen.exemplars, seen.histograms} == std::tuple{1u, 1u, 1u});
    }
}

TEST_CASE("v2: label references may be packed or not, in any number of runs, with other fields between them") {
    const std::string unknown = varint_field(77, 1);
    for (const std::string& written : {
             unpacked_refs({1, 2, 3, 4}),
             refs({1, 2}).append(refs({3, 4})),
             refs({1}).append(refs({2, 3})).append(refs({4})),
             refs({1, 2, 3}).append(unpacked_refs({4})),
             unpacked_refs({1}).append(refs({2, 3, 4})),
             unpacked_refs({1}).append(refs({2, 3})).append(unpacked_refs({4})),
             refs({}).append(up_refs).append(refs({})),
             join({refs({1}), sample(1), unpacked_refs({2}), unknown, refs({3}), metadata_v2(0, 0), refs({4})}),
             padded_len_field(1, "\x01\x02\x03\x04", 5),
             len_field(1, join({varint(1, 10), varint(2, 5), varint(3, 2), varint(4, 3)})),
             tag(1, wire_type::varint).append(varint(1, 10)).append(refs({2, 3, 4})),
         })
        CHECK(read_one_v2({written}).labels == name_and_job);
}

TEST_CASE("v2: references of every size are read") {
    std::string table;
    for (int i = 0; i < 20000; ++i) table.append(len_field(4, std::to_string(i)));
    for (const std::uint64_t ref : {0ul, 1ul, 127ul, 128ul, 129ul, 255ul, 256ul, 16382ul, 16383ul, 16384ul, 19999ul}) {
        const auto outcome = read_v2(entry({refs({ref, ref}), sample(1)}).append(table));
        REQUIRE(outcome.series.size() == 1);
        const std::string text = std::to_string(ref);
        CHECK(outcome.series[0].labels == label_texts{{text, text}});
    }
}

TEST_CASE("v2: a series without labels, and a label without a value, are read") {
    CHECK(read_one_v2({sample(1)}).labels.empty());
    CHECK(read_one_v2({}).record == "\x2a\0"s);
    CHECK(read_one_v2({refs({3, 0, 1, 2})}).labels == label_texts{{"job", ""}, {"__name__", "up"}});
}

TEST_CASE("v2: a series is admitted by a sample or histogram other than a stale marker") {
    const std::string stale = sample_bits(stale_marker_bits);
    // With samples and histograms of every value: differential_v2_test.cpp.
    CHECK_FALSE(read_one_v2({up_refs, stale}).admits);
    CHECK(read_one_v2({up_refs, stale, histogram_v2_bits(0)}).admits);
    const auto seen = read_one_v2({up_refs, exemplar_v2(refs({3, 4})), metadata_v2(0, 0)});
    CHECK(seen.exemplars == 1);
    CHECK_FALSE(seen.admits);
    const auto outcome = read_v2(join({five_symbols, entry({up_refs, sample(1)}), entry({up_refs, stale})}));
    REQUIRE(outcome.series.size() == 2);
    CHECK_FALSE(outcome.series[1].admits);  // nothing is left over from the series before
}

TEST_CASE("v2: fields of earlier and later drafts are read") {
    const std::string start = varint_field(3, 1699999999999);
    const auto seen = read_one_v2({up_refs, varint_field(6, 1699999999999), len_field(2, start),
                                   len_field(3, varint_field(17, 1699999999999)),
                                   len_field(3, len_field(16, fixed64(1))), metadata_v2(2, 4), metadata_v2(0, 0)});
    CHECK(seen.samples == 1);
    CHECK(seen.histograms == 2);
    CHECK(seen.labels == name_and_job);
}

TEST_CASE("a request of the other version is refused: a store could find series in it") {
    for (const std::string& v1 : {series({label("__name__", "up"), sample(1)}), metadata("up"), varint_field(2, 1)}) {
        CHECK(read_v2(v1).error == wire_errc::field_of_version_1);
        CHECK(read_v2(v1).series.empty());
    }
    for (const std::string& v2 : {std::string{documented_entry}, std::string{five_symbols}}) {
        write_request_reader reader{v2};
        CHECK_FALSE(reader.next());
        CHECK(reader.error().code == wire_errc::field_of_version_2);
    }
}

}  // namespace
}  // namespace seriesgate::testing::write_request_v2_test
