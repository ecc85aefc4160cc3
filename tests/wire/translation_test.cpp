#include "wire/translation.hpp"
#include "fuzz/random_request_v2.hpp"
#include "fuzz/translation_property.hpp"
#include "remote_write_v1.pb.h"
#include "support/catch.hpp"
#include "support/sanitizers.hpp"
#include "wire/wire_bytes_v2.hpp"

namespace seriesgate::testing::translation_test {
namespace {

std::string translated(const std::string& body, std::uint32_t lost = 0) {
    REQUIRE(read_v2(body).error == wire_errc::none);
    translator translate{hash_key::known_to_all()};
    std::string out = "what was there before";
    CHECK(translate(body, {}, out).histograms == lost);
    return out;
}

prometheus::WriteRequest parsed(const std::string& body, std::uint32_t lost = 0) {
    prometheus::WriteRequest message;
    REQUIRE(message.ParseFromString(translated(body, lost)));
    return message;
}

/// "type family help unit", a line each.
std::string metadata_of(const std::string& body) {
    std::string lines;
    const prometheus::WriteRequest message = parsed(body);
    for (const auto& each : message.metadata()) {
        lines += std::to_string(each.type());
        lines.append(" ").append(each.metric_family_name()).append(" ").append(each.help());
        lines.append(" ").append(each.unit()).append("\n");
    }
    return lines;
}

/// One series of the metric with metadata of the type.
std::string typed(std::string_view metric, std::uint64_t type) {
    return symbols({"", "__name__", metric, "some help"})
        .append(entry({refs({1, 2}), sample(1), len_field(5, join({varint_field(1, type), varint_field(3, 3)}))}));
}

std::string histogram_of_schema(std::uint64_t zigzag) {
    return len_field(3, join({varint_field(1, 3), varint_field(4, zigzag), varint_field(15, 1700000000000)}));
}

TEST_CASE("translation: a series becomes one of version 1, byte for byte as Prometheus would write it") {
    const std::string body = std::string{five_symbols}.append(entry({refs({1, 2, 3, 4}), sample(1)}));
    CHECK(translated(body) == series({label("__name__", "up"), label("job", "a"), sample(1)}));
    CHECK(translated("").empty());
    CHECK(translated(five_symbols).empty());
}

TEST_CASE("translation: every kind of record, wherever it stands") {
    const auto message =
        parsed(join({entry({metadata_v2(4, 3), exemplar_v2(unpacked_refs({3, 4})), histogram_v2_bits(5), sample(1),
                            sample(2), refs({1, 2}), unpacked_refs({3, 0})}),
                     five_symbols}));
    REQUIRE(message.timeseries_size() == 1);
    const auto& series = message.timeseries(0);
    CHECK(series.labels_size() == 2);
    CHECK(series.labels(1).name() == "job");
    CHECK(series.labels(1).value().empty());
    CHECK(series.samples_size() == 2);
    CHECK(series.histograms_size() == 1);
    CHECK(series.histograms(0).count_int() == 3);
    REQUIRE(series.exemplars_size() == 1);
    CHECK(series.exemplars(0).labels(0).name() == "job");
    CHECK(series.exemplars(0).labels(0).value() == "a");
    CHECK(series.exemplars(0).timestamp() == 1700000000000);
    REQUIRE(message.metadata_size() == 1);
    CHECK(message.metadata(0).help() == "a");
    CHECK(message.metadata(0).unit() == "job");
}

TEST_CASE("translation: metadata once for each family and what is said of it") {
    CHECK(metadata_of(typed("a_bucket", 3)) == "3 a some help \n");
    CHECK(metadata_of(typed("a_sum", 3)) == "3 a some help \n");
    CHECK(metadata_of(typed("a_count", 3)) == "3 a some help \n");
    CHECK(metadata_of(typed("a_gsum", 4)) == "4 a some help \n");
    CHECK(metadata_of(typed("a_sum", 5)) == "5 a some help \n");
    CHECK(metadata_of(typed("a_bucket", 5)) == "5 a_bucket some help \n");
    CHECK(metadata_of(typed("a_info", 6)) == "6 a some help \n");
    CHECK(metadata_of(typed("a_total", 1)) == "1 a_total some help \n");
    CHECK(metadata_of(typed("a_sum", 2)) == "2 a_sum some help \n");
    CHECK(metadata_of(typed("_sum", 5)) == "5 _sum some help \n");
    CHECK(metadata_of(typed("a", 0)) == "0 a some help \n");
    CHECK(metadata_of(typed("", 1)).empty());

    const std::string a = entry({refs({1, 2}), metadata_v2(4, 0)});
    const std::string other = entry({refs({1, 2}), metadata_v2(3, 0)});
    CHECK(metadata_of(join({five_symbols, a, a, other, a})) == "1 up a \n1 up job \n");
    CHECK(metadata_of(join({five_symbols, entry({refs({3, 4}), metadata_v2(4, 0)})})).empty());
    CHECK(
        metadata_of(join({five_symbols, entry({refs({1, 2}), metadata_v2(0, 4), len_field(5, varint_field(3, 3))})})) ==
        "1 up job a\n");
}

TEST_CASE("translation: histograms with custom buckets are left out, and a series with nothing else") {
    constexpr std::uint64_t custom = 105;  // -53
    const auto both = parsed(join({five_symbols, entry({refs({1, 2}), histogram_of_schema(custom), sample(1)}),
                                   entry({refs({1, 2, 3, 4}), histogram_of_schema(custom), metadata_v2(4, 0)}),
                                   entry({refs({1, 2, 3, 4}), histogram_of_schema(106)}), entry({refs({1, 4})})}),
                             2);
    REQUIRE(both.timeseries_size() == 3);
    CHECK(both.timeseries(0).samples_size() == 1);
    CHECK(both.timeseries(0).histograms_size() == 0);
    CHECK(both.timeseries(1).histograms(0).schema() == 53);
    CHECK(both.timeseries(2).labels_size() == 1);
    CHECK(both.metadata_size() == 0);
    // The last of several schemas counts, as for parsers.
    const std::string twice = len_field(3, join({varint_field(4, 2), varint_field(4, custom)}));
    CHECK(translated(join({five_symbols, entry({refs({1, 2}), twice})}), 1).empty());
}

TEST_CASE("translation: series that a receiver of version 1 drops in silence are left out and told") {
    const std::string table = symbols({"", "__name__", "up", "job", "a", "\xff"});
    const auto lost_of = [&table](std::initializer_list<std::uint64_t> labels, const std::string& data = sample(1)) {
        translator translate{hash_key::known_to_all()};
        std::string out;
        const std::string kept = entry({refs({1, 2}), sample(1)});
        const std::string left_out = entry({refs(labels), data});
        const auto lost = translate(join({table, left_out, kept, left_out}), {}, out);
        if (lost.any()) CHECK(out == series({label("__name__", "up"), sample(1)}));
        return lost.invalid;
    };
    CHECK(lost_of({1, 2, 3, 4}).series == 0);
    CHECK(lost_of({3, 4}).series == 2);
    CHECK(lost_of({3, 4}).samples == 2);
    CHECK(lost_of({3, 4}).first == "no metric name: {job=\"a\"}");
    CHECK(lost_of({1, 0}).first == "no metric name: {}");
    CHECK(lost_of({}).first == "no metric name: {}");
    CHECK(lost_of({3, 4, 1, 2, 3, 0}).first.starts_with("two labels of one name: "));
    CHECK(lost_of({1, 2, 3, 5}).first.starts_with("a label that is no UTF-8: "));
    CHECK(lost_of({1, 2, 5, 4}).first.starts_with("a label that is no UTF-8: "));
    CHECK(lost_of({1, 5}).first.starts_with("a label that is no UTF-8: "));
    CHECK(lost_of({3, 4}, histogram_v2_bits(5)).histograms == 2);
    CHECK(lost_of({3, 4}, exemplar_v2(unpacked_refs({3, 4}))).exemplars == 2);
    // What holds no data is lost by nobody.
    CHECK(lost_of({3, 4}, metadata_v2(4, 0)).series == 0);
}

TEST_CASE("translation: values and start timestamps keep their bits, unknown fields of a series go") {
    const std::string stale = len_field(2, join({fixed64_field(1, 0x7ff0000000000002), varint_field(2, 1700000000000),
                                                 varint_field(3, 1600000000000)}));
    const std::string body =
        join({five_symbols, entry({refs({1, 2}), stale, varint_field(6, 5), len_field(9, "x")}), varint_field(6, 1)});
    CHECK(translated(body) == series({label("__name__", "up"), stale}));
}

TEST_CASE("translation: what the request's references stand for is bounded when the reader is told so") {
    const std::string long_text(1000, 'x');
    const std::string body =
        symbols({"", "__name__", long_text})
            .append(entry({refs({1, 2}), sample(1), exemplar_v2(refs({1, 2})), metadata_v2(2, 0)}));
    constexpr std::size_t filled_in = 3 * 1000 + 2 * 8 + 2 * label_frame_bytes;
    write_request_v2_reader reader;
    CHECK(entries_in(reader, body, filled_in) == 1);
    CHECK_FALSE(reader.failed());
    CHECK(entries_in(reader, body, filled_in - 1) == 0);
    CHECK(reader.error().code == wire_errc::request_symbol_bytes_over_limit);
}

TEST_CASE("translation: a body of tiny labels becomes no larger than its bound says") {
    std::vector<std::string_view> texts{"", "__name__", "u"};
    constexpr std::string_view names = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
    for (std::size_t i = 0; i < names.size(); ++i) texts.push_back(names.substr(i, 1));
    std::vector<std::uint64_t> references{1, 2};
    for (std::uint64_t i = 3; i < texts.size(); ++i) references.insert(references.end(), {i, 0});
    std::string body;
    for (const std::string_view text : texts) body += symbols({text});
    for (int i = 0; i < 1'000; ++i) body += entry({refs(references), len_field(2, "")});
    write_request_v2_reader reader;
    entries_in(reader, body, body.size());
    const bool is_refused = reader.error().code == wire_errc::request_symbol_bytes_over_limit;
    CHECK((is_refused || translated(body).size() <= 2 * body.size()));
}

TEST_CASE("translation: the recorded requests, with and without a random half") {
    random_source random{4};
    for (const char* const folder : {"prometheus-3.5-v2", "native-histograms-v2"})
        for (const std::string& path : recorded_files(folder)) {
            const std::string body = decoded_file(path);
            walk_check check;
            walk_v2(body, check);
            REQUIRE(check.accepted);
            for (int round = 0; round < 3; ++round) REQUIRE(check_translation(body, check, random) == "");
        }
}

TEST_CASE("translation: generated requests say the same in version 1") {
    random_source random{20261123};
    int custom = 0;
    for (int i = 0; i < (sanitized ? 10'000 : 100'000); ++i) {
        const std::string body = random_request_v2(random);
        walk_check check;
        walk_v2(body, check);
        REQUIRE(check.accepted);
        const std::string wrong = check_translation(body, check, random);
        if (!wrong.empty()) FAIL(wrong << ", request " << i);
        const v2_request message = parse_v2(body).value();
        for (const auto& series : message.timeseries())
            for (const auto& histogram : series.histograms()) custom += histogram.schema() == -53;
    }
    CHECK(custom > (sanitized ? 20 : 200));
}

}  // namespace
}  // namespace seriesgate::testing::translation_test
