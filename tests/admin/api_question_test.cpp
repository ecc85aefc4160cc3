#include "admin/api.hpp"

#include <fmt/format.h>

#include "support/catch.hpp"

using namespace seriesgate;

namespace {

const std::vector<std::string> no_labels;

std::string wrong(api_path path, std::string_view query) {
    const auto read = read_api_question(path, query, no_labels);
    return read ? "" : read.error().substr(0, read.error().find("; possible are "));
}

std::string wrong_series(std::string_view text) {
    const auto read = read_series(text);
    return read ? "" : read.error();
}

}  // namespace

TEST_CASE("a question has few regular expressions, for it is read where health is answered") {
    const auto asking = [](int count) {
        std::string query = "match=%7B";
        for (int i = 0; i < count; ++i) query += fmt::format("a{}=~%60%5CpL%7B5%7D%60,", i);
        return read_api_question(api_path::refused, query + "%7D", no_labels);
    };
    CHECK(asking(4).has_value());
    REQUIRE_FALSE(asking(5).has_value());
    CHECK(asking(5).error().find("match: more than 4 regular expressions") == 0);
    CHECK_FALSE(read_api_question(api_path::refused, "match=%7Ba=~%60%5CpL%7B38%7D%60%7D", no_labels).has_value());
}

TEST_CASE("a series is a selector that only has equal signs") {
    const auto read = read_series(R"(up{job="a",zone='z\x41',"my.label"=`b\`,empty=""})");
    REQUIRE(read.has_value());
    CHECK(*read == series_labels{{"__name__", "up"}, {"empty", ""}, {"job", "a"}, {"my.label", "b\\"}, {"zone", "zA"}});
    const auto twice = read_series(R"({"my.metric",a="1",a="1"})");
    REQUIRE(twice.has_value());
    CHECK(*twice == series_labels{{"__name__", "my.metric"}, {"a", "1"}});
    CHECK(label_views(*read).size() == 5);
    CHECK(label_views(*read)[2].value == "a");
}

TEST_CASE("what is no series is said to be none, and why") {
    CHECK(wrong_series(R"(up{job!="a"})") ==
          R"(one series is asked for, so every label needs an '=', and "job" has another sign)");
    CHECK(wrong_series(R"(up{job=~"a"})") ==
          R"(one series is asked for, so every label needs an '=', and "job" has another sign)");
    CHECK(wrong_series(R"({job="a",job="b"})") == R"(the label "job" has two values)");
    CHECK(wrong_series("up{job=a}") == "expected a quoted string, found 'a' at byte 7");
    CHECK(wrong_series("{}").starts_with("selects series that have none of its labels"));
    CHECK(wrong_series(R"(up{a="\xzz"})") == R"(incomplete escape \x at byte 6)");
}

TEST_CASE("explain wants a series, and takes a tenant") {
    const auto read = read_api_question(api_path::explain, "series=up%7Bjob%3D%22a%22%7D&tenant=shop", no_labels);
    REQUIRE(read.has_value());
    CHECK(read->series == R"(up{job="a"})");
    CHECK(read->tenant == "shop");
    CHECK(wrong(api_path::explain, "") == R"(series: is required, as in series={__name__="up",job="a"})");
    CHECK(wrong(api_path::explain, "series=") == "series: expected a metric's name or '{', found the end at byte 0");
    CHECK(wrong(api_path::explain, "series=up&limit=3") == R"(unknown argument "limit")");
    CHECK(wrong(api_path::explain, "series=up&series=up") == "series: comes twice");
    CHECK(wrong(api_path::explain, "series=" + std::string(20'000, 'a')) ==
          "series: selector of more than 16384 bytes");
}

TEST_CASE("suggestions are of all budgets, of a tenant's, or of a limit's") {
    const auto read = read_api_question(api_path::suggestions, "tenant=&name=per-namespace&limit=7", no_labels);
    REQUIRE(read.has_value());
    CHECK(read->tenant == "");
    CHECK(read->name == "per-namespace");
    CHECK(read->shown_max == 7);
    CHECK(read_api_question(api_path::suggestions, "", no_labels)->shown_max == 100);
    CHECK(wrong(api_path::suggestions, "limit=1001") == "limit: expected a whole number up to 1000");
    CHECK(wrong(api_path::suggestions, "name=") == "name: expected the name of one of limits, of at most 100 bytes");
    CHECK(wrong(api_path::suggestions, "window=hourly") == R"(unknown argument "window")");
}
