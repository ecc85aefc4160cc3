#include "series/query_answer.hpp"

#include "support/catch.hpp"

namespace seriesgate::testing {
namespace {

struct reading {
    std::vector<std::string> series;  ///< as text
    std::vector<std::string> texts;
    std::string fault, error, warning;
    std::size_t labels_max = 0;
};

reading read(std::string_view answer, std::size_t piece = std::string_view::npos) {
    reading made;
    query_answer reader{[&](std::span<const label_view> labels) {
                            REQUIRE(std::ranges::is_sorted(labels, {}, &label_view::name));
                            made.series.push_back(to_text(labels, 1 << 20));
                            made.labels_max = std::max(made.labels_max, labels.size());
                        },
                        [&](std::string_view text) { made.texts.emplace_back(text); }};
    for (std::size_t at = 0; at < answer.size();) {
        const auto part = answer.substr(at, piece);
        at += part.size();
        if (!reader.write(part)) break;
    }
    made.fault = reader.fault();
    made.error = reader.error();
    made.warning = reader.warning();
    return made;
}

using texts = std::vector<std::string>;

/// Recorded from Prometheus 2.42 and VictoriaMetrics; the two differ in the order of labels and in what stands beside.
constexpr std::string_view prometheus_vector =
    R"({"status":"success","data":{"resultType":"vector","result":[{"metric":{"__name__":"old","n":"0"},"value":)"
    R"([1795828798.531,"1"]},{"metric":{"__name__":"\u00fctf.name","we.ird":"a\"b\\c\n"},"value":[1795828798,"1"]}]}})";
constexpr std::string_view victoria_vector =
    R"({"status":"success","isPartial":false,"data":{"resultType":"vector","result":[{"metric":{"__name__":"a","B":"1",)"
    R"("b":"2"},"value":[1,"1"],"group":1}]},"stats":{"seriesFetched": "1","executionTimeMsec":0}})"
    "\n";

}  // namespace

TEST_CASE("the series of a vector are read, in whatever pieces it arrives") {
    for (const std::size_t piece : {1UL, 2UL, 3UL, 7UL, 64UL, 1UL << 20}) {
        CAPTURE(piece);
        const reading first = read(prometheus_vector, piece);
        CHECK(first.fault.empty());
        CHECK(first.series == texts{R"(old{n="0"})", R"(ütf.name{we.ird="a\"b\\c\x0a"})"});
        const reading second = read(victoria_vector, piece);
        CHECK(second.fault.empty());
        CHECK(second.warning.empty());
        CHECK(second.series == texts{R"(a{B="1",b="2"})"});
    }
}

TEST_CASE("native histograms, empty labels and unknown keys are no obstacle") {
    const reading got = read(
        R"({"data":{"result":[{"histogram":[1,{"count":"3","buckets":[[0,"1","2","3"]]}],"metric":{"__name__":"h","e":""}},)"
        R"({"metric":{}},{"metric":{"a":"1","a":"2"}},{"metric":["x","y"]},{"metric":{"a":{"b":"c"},"d":"e"}},{}],)"
        R"("metric":{"no":"series"}},"x":{"y":[{"metric":{"no":"series"}}]},"status":"success"})");
    CHECK(got.fault.empty());
    CHECK(got.series == texts{"h", R"({d="e"})"});
}

TEST_CASE("the items of a list are read") {
    const reading got = read(R"({"status":"success","data":["up","b"],"warnings":["first","second"]})", 5);
    CHECK(got.fault.empty());
    CHECK(got.texts == texts{"up", "b"});
    CHECK(got.warning == "first");
}

TEST_CASE("what the store says is wrong is the fault") {
    CHECK(read(R"({"status":"error","errorType":"422","error":"too many\nseries"})").fault == R"(too many\x0aseries)");
    CHECK(read(R"({"status":"error","errorType":"timeout"})").fault == "timeout");
    CHECK(read(R"({"status":"success","isPartial":true,"data":[]})").warning == "the answer is partial");
}

TEST_CASE("what is no answer of a query API is a fault") {
    CHECK(read("").fault == "the answer ends too early");
    CHECK(read(prometheus_vector.substr(0, prometheus_vector.size() - 1)).fault == "the answer ends too early");
    CHECK(read("<html>").fault.starts_with("the answer is not that of a query API: "));
    CHECK(read("{}").fault == "the answer is not that of a query API: no \"status\"");
    CHECK(read(R"({"status":"success"} {)").fault.starts_with("the answer is not that of a query API: "));
    CHECK(read(R"({"status":"success"} )"
               "\n")
              .fault.empty());
    CHECK(read(std::string(100'000, '[')).fault.starts_with("the answer is not that of a query API: "));
}

TEST_CASE("memory is bounded, however long a label or a series is") {
    const std::string long_text(query_answer::text_bytes_max + 1, 'x');
    const std::string head = R"({"status":"success","data":{"result":[{"metric":{)";
    CHECK(!read(head + R"("a":")" + long_text + R"("}}]}})", 1000).fault.empty());
    CHECK(!read(head + "\"" + long_text + R"(":"a"}}]}})", 1000).fault.empty());
    std::string many;
    for (int i = 0; i < 30'000; ++i) many += "\"name_of_a_label_" + std::to_string(i) + "\":\"some value of it\",";
    CHECK(!read(head + many + R"("z":"z"}}]}})", 4096).fault.empty());
}

}  // namespace seriesgate::testing
