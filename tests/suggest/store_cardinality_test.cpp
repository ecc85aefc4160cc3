#include "suggest/first_config.hpp"
#include "support/catch.hpp"

using namespace seriesgate::from_store;

namespace {

/// As Prometheus answers; VictoriaMetrics has `totalSeries` in place of `headStats`.
std::string answer(const std::string& total, const std::string& metrics, const std::string& pairs = "") {
    return R"({"status":"success","data":{)" + total + R"(,"seriesCountByMetricName":[)" + metrics +
           R"(],"labelValueCountByLabelName":[{"name":"job","value":2}],"seriesCountByLabelValuePair":[)" + pairs +
           "]}}";
}

const std::string head =
    R"("headStats":{"numSeries":100,"minTime":9223372036854775807,"maxTime":-9223372036854775808})";

std::string counted(const std::string& name, int series) {
    return R"({"name":")" + name + R"(","value":)" + std::to_string(series) + "}";
}

std::string best_of(const std::string& pairs) {
    return best_label(*read_status(answer(head, counted("m", 100), pairs)));
}

}  // namespace

TEST_CASE("both kinds of store are read") {
    const auto prometheus = read_status(answer(head, counted("a", 60) + "," + counted("b", 40)));
    REQUIRE(prometheus.has_value());
    CHECK_FALSE(prometheus->is_of_day);
    CHECK(prometheus->series == 100);
    CHECK(prometheus->metrics == std::vector<value_count>{{"a", 60}, {"b", 40}});
    CHECK(prometheus->value_counts.at("job") == 2);
    const auto victoria = read_status(answer(R"("totalSeries":7)", counted("small", 1) + "," + counted("large", 6)));
    REQUIRE(victoria.has_value());
    CHECK(victoria->is_of_day);
    CHECK(victoria->series == 7);
    CHECK(victoria->metrics == std::vector<value_count>{{"large", 6}, {"small", 1}});
}

TEST_CASE("what is no answer of such a store is an error") {
    for (const std::string& text :
         {""s, "<html>"s, "[]"s, "{}"s, R"({"data":{}})"s, R"({"data":[]})"s, answer(R"("totalSeries":-1)", ""),
          answer(R"("headStats":{})", ""), answer(head, R"({"name":1,"value":1})"), answer(head, "7"),
          answer(head, R"({"name":"a"})"), answer(head, counted("\xff", 1)),
          answer(R"("totalSeries":500000000001)", ""), std::string(100'000, '[')}) {
        CAPTURE(text.substr(0, 200));
        const auto read = read_status(text);
        REQUIRE_FALSE(read.has_value());
        CHECK(read.error() == "the answer is not that of a Prometheus or VictoriaMetrics");
    }
}

TEST_CASE("groups of a label are its values") {
    const auto store =
        *read_status(answer(head, counted("m", 100),
                            counted("job=a=b", 60) + "," + counted("jobs=x", 50) + "," +
                                counted("job=" + std::string(2'000, 'x'), 40) + "," + counted("job=", 3)));
    CHECK(groups_of(store, "job") == std::vector<value_count>{{"a=b", 60}, {"", 3}});
    CHECK(groups_of(store, "__name__") == std::vector<value_count>{{"m", 100}});
    CHECK(groups_of(store, "jo").empty());
}

TEST_CASE("the label is the first that divides at least half of the series") {
    const std::string jobs = counted("job=a", 50) + "," + counted("job=b", 40);
    CHECK(best_of("") == "__name__");
    CHECK(best_of(jobs) == "job");
    CHECK(best_of(jobs + "," + counted("namespace=x", 49) + "," + counted("namespace=y", 1)) == "namespace");
    CHECK(best_of(jobs + "," + counted("namespace=x", 40) + "," + counted("namespace=y", 9)) == "job");
    CHECK(best_of(jobs + "," + counted("namespace=x", 100)) == "job");
    CHECK(best_of(counted("job=a", 100)) == "__name__");
}

TEST_CASE("a store is asked for many entries, and for a day if it counts days") {
    CHECK(status_target("") == "/api/v1/status/tsdb?limit=10000&topN=10000");
    CHECK(status_target("2026-01-31") == "/api/v1/status/tsdb?limit=10000&topN=10000&date=2026-01-31");
}
