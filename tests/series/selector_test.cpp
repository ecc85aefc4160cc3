#include "series/selector.hpp"

#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/utf8.hpp"
#include "support/catch.hpp"

using namespace seriesgate;
using namespace std::string_literals;

namespace selector_test {
namespace {

using label_list = std::vector<label_view>;

selector parsed(std::string_view text) {
    auto made = parse_selector(text);
    CAPTURE(std::string{text});
    if (!made) FAIL(to_string(made.error()));
    return *made;
}

/// The canonical form.
std::string canonical(std::string_view text) {
    return parsed(text).to_string();
}

/// The error's text, empty if there is none.
std::string error_of(std::string_view text) {
    const auto made = parse_selector(text);
    return made ? "" : to_string(made.error());
}

bool matches(std::string_view text, const label_list& labels) {
    return parsed(text).matches(labels);
}

}  // namespace

TEST_CASE("a metric's name is a selector") {
    CHECK(canonical("up") == "up");
    CHECK(canonical("node_cpu_seconds_total") == "node_cpu_seconds_total");
    CHECK(canonical("job:rate:5m") == "job:rate:5m");
    CHECK(canonical(":up") == ":up");
    CHECK(canonical("_") == "_");
    CHECK(canonical("U9") == "U9");
    CHECK(canonical("up{}") == "up");
    CHECK(canonical("sum") == "sum");
    CHECK(canonical("offset{by=\"x\"}") == "offset{by=\"x\"}");
    CHECK(canonical("nan") == "nan");
}

TEST_CASE("the four operators are read") {
    const selector all = parsed(R"({a="1",b!="2",c=~"3.",d!~"4."})");
    REQUIRE(all.matchers().size() == 4);
    CHECK(all.matchers()[0].op == match_op::equal);
    CHECK(all.matchers()[1].op == match_op::not_equal);
    CHECK(all.matchers()[2].op == match_op::regex);
    CHECK(all.matchers()[3].op == match_op::not_regex);
    CHECK(all.matchers()[3].name == "d");
    CHECK(all.matchers()[3].value == "4.");
    CHECK(all.to_string() == R"({a="1",b!="2",c=~"3.",d!~"4."})");
}

TEST_CASE("white space may stand between any two words") {
    const selector dense = parsed(R"(up{a="1",b=~"2"})");
    CHECK(parsed(" \t\r\n up \n{ \t a\r= \n\"1\" , b\t=~  \"2\" \n} \t\r\n") == dense);
    CHECK(parsed("up{a=\"1\"\n,b=~\"2\"\n,}") == dense);
    SECTION("but not within one") {
        CHECK(error_of(R"({a= ~"1"})") == "expected a quoted string, found '~' at byte 4");
        CHECK(error_of(R"({a! ="1"})") == "expected '=', '!=', '=~' or '!~', found '!' at byte 2");
        CHECK(error_of("u p") == "expected the end of the selector, found 'p' at byte 2");
    }
    SECTION("and only PromQL's") {
        CHECK(error_of("up\f") == "expected the end of the selector, found byte 0x0c at byte 2");
        CHECK(error_of("up\v") == "expected the end of the selector, found byte 0x0b at byte 2");
        CHECK(error_of("\u00a0up") == "expected a metric's name or '{', found '\u00a0' at byte 0");
        CHECK(error_of("up\0"s) == "expected the end of the selector, found byte 0x00 at byte 2");
    }
}

TEST_CASE("one comma may follow the last matcher") {
    CHECK(canonical(R"({a="1",})") == R"({a="1"})");
    CHECK(canonical(R"({a="1" , })") == R"({a="1"})");
    CHECK(canonical(R"({"up",})") == "up");
    CHECK(error_of("{,}") == "expected a label's name or '}', found ',' at byte 1");
    CHECK(error_of("up{,}") == "expected a label's name or '}', found ',' at byte 3");
    CHECK(error_of(R"({,a="1"})") == "expected a label's name or '}', found ',' at byte 1");
    CHECK(error_of(R"({a="1",,})") == "expected a label's name or '}', found ',' at byte 7");
    CHECK(error_of(R"({a="1",,b="2"})") == "expected a label's name or '}', found ',' at byte 7");
}

TEST_CASE("strings have three kinds of quotes") {
    CHECK(parsed(R"({a='1'})") == parsed(R"({a="1"})"));
    CHECK(parsed(R"({a=`1`})") == parsed(R"({a="1"})"));
    CHECK(parsed(R"({a='"'})") == parsed(R"({a="\""})"));
    CHECK(parsed(R"({a="'`"})") == parsed(R"({a='\'`'})"));
    CHECK(parsed(R"({a=`\d"'`})") == parsed(R"({a="\\d\"'"})"));
    CHECK(parsed("{a=`1\n2`}") == parsed(R"({a="1\n2"})"));
    CHECK(parsed(R"({a=`\`})") == parsed(R"({a="\\"})"));
}

TEST_CASE("strings have the escapes of PromQL") {
    const auto value_of = [](std::string_view quoted) {
        return parsed("{n=\"x\",a=" + std::string{quoted} + "}").matchers()[0].value;
    };
    CHECK(value_of(R"("\a\b\f\n\r\t\v\\")") == "\a\b\f\n\r\t\v\\");
    CHECK(value_of(R"("\"")") == "\"");
    CHECK(value_of(R"('\'')") == "'");
    CHECK(value_of(R"("\101\000\377")") == "A\0\xff"s);
    CHECK(value_of(R"("\x41\x00\xfF\xc3\xbc")") == "A\0\xff\u00fc"s);
    CHECK(value_of(R"("\u00fc\u0041\u6771\u0000")") == "üA東\0"s);
    CHECK(value_of(R"("\U0001F680\U0010ffff")") == "🚀\U0010ffff");
    CHECK(value_of(R"("Zürich 東京 �")") == "Zürich 東京 �");
    CHECK(value_of(R"("\x411")") == "A1");
    CHECK(value_of(R"("")").empty());

    SECTION("and no others") {
        CHECK(error_of(R"({a=~"\d+"})") ==
              R"(unknown escape \d (a backslash is written \\, or put the string in backquotes) at byte 5)");
        CHECK(error_of(R"({a="\'"})").starts_with(R"(unknown escape \' ()"));
        CHECK(error_of(R"({a='\"'})").starts_with(R"(unknown escape \" ()"));
        CHECK(error_of(R"({a="\`"})").starts_with(R"(unknown escape \` ()"));
        CHECK(error_of(R"({a="\ü"})").starts_with(R"(unknown escape \ü ()"));
        CHECK(error_of(R"({a="\8"})").starts_with(R"(unknown escape \8 ()"));
        CHECK(error_of("{a=\"\\\n\"}").starts_with(R"(unknown escape \? ()"));
        CHECK(error_of("{a=\"\\\xff\"}").starts_with(R"(unknown escape \ ()"));
    }
    SECTION("complete") {
        CHECK(error_of(R"({a="\7"})") == R"(incomplete escape \7 at byte 4)");
        CHECK(error_of(R"({a="\778"})") == R"(incomplete escape \77 at byte 4)");
        CHECK(error_of(R"({a="\x"})") == R"(incomplete escape \x at byte 4)");
        CHECK(error_of(R"({a="\x4g"})") == R"(incomplete escape \x4 at byte 4)");
        CHECK(error_of(R"({a="\u12"})") == R"(incomplete escape \u12 at byte 4)");
        CHECK(error_of(R"({a="\U0001F68"})") == R"(incomplete escape \U0001F68 at byte 4)");
        CHECK(error_of(R"({a="\x4)") == R"(incomplete escape \x4 at byte 4)");
    }
    SECTION("and of characters that exist") {
        CHECK(error_of(R"({a="\400"})") == R"(impossible character \400 at byte 4)");
        CHECK(error_of(R"({a="\777"})") == R"(impossible character \777 at byte 4)");
        CHECK(error_of(R"({a="\ud800"})") == R"(impossible character \ud800 at byte 4)");
        CHECK(error_of(R"({a="\uDFFF"})") == R"(impossible character \uDFFF at byte 4)");
        CHECK(error_of(R"({a="\U00110000"})") == R"(impossible character \U00110000 at byte 4)");
        CHECK(error_of(R"({a="\Uffffffff"})") == R"(impossible character \Uffffffff at byte 4)");
    }
}

TEST_CASE("strings end, on their line, and are UTF-8") {
    CHECK(error_of(R"({a=")") == "string without its end at byte 3");
    CHECK(error_of(R"({a="1)") == "string without its end at byte 3");
    CHECK(error_of(R"({a="1'})") == "string without its end at byte 3");
    CHECK(error_of(R"({a="1\)") == "string without its end at byte 3");
    CHECK(error_of(R"({a="1\"})") == "string without its end at byte 3");
    CHECK(error_of("{a=`1\\") == "string without its end at byte 3");
    CHECK(error_of("{a='1\n'}") == "string without its end at byte 3");
    CHECK(error_of("{\"a") == "string without its end at byte 1");
    CHECK(error_of("{a=\"1\xff\"}") == "bytes that are not UTF-8 at byte 5");
    CHECK(error_of("{a=`\xc3`}") == "bytes that are not UTF-8 at byte 4");
}

TEST_CASE("names in quotes may be any UTF-8") {
    CHECK(canonical(R"({"my.metric"})") == R"({"my.metric"})");
    CHECK(canonical(R"({"my.metric", "label.name"="x"})") == R"({"my.metric","label.name"="x"})");
    CHECK(canonical(R"({"label.name"="x",'my.metric'})") == R"({"my.metric","label.name"="x"})");
    CHECK(canonical(R"({A="x","my.metric"})") == R"({"my.metric",A="x"})");
    CHECK(canonical(R"({`größe`!="0",stadt="Zürich"})") == R"({"größe"!="0",stadt="Zürich"})");
    CHECK(canonical(R"({"a:b"="x"})") == R"({"a:b"="x"})");
    CHECK(canonical(R"({"a\"\\\n"="x"})") == R"({"a\"\\\n"="x"})");
    SECTION("and are written plainly where they can be") {
        CHECK(canonical(R"({"up"})") == "up");
        CHECK(canonical(R"({"a:b", "job"="x"})") == R"(a:b{job="x"})");
        CHECK(canonical(R"({'__name__'='up'})") == "up");
        CHECK(canonical(R"({__name__="my.metric"})") == R"({"my.metric"})");
    }
    SECTION("but not empty or broken") {
        CHECK(error_of(R"({""})") == "empty name at byte 1");
        CHECK(error_of(R"({a="1",""="x"})") == "empty name at byte 7");
        CHECK(error_of(R"({"\xff"="x"})") == "name that is not UTF-8 at byte 1");
        CHECK(error_of(R"({"\xff"})") == "name that is not UTF-8 at byte 1");
    }
    SECTION("nor outside of the braces") {
        CHECK(error_of(R"("my.metric")") == "expected a metric's name or '{', found '\"' at byte 0");
        CHECK(error_of("my.metric") == "expected the end of the selector, found '.' at byte 2");
        CHECK(error_of("größe") == "expected the end of the selector, found 'ö' at byte 2");
    }
}

TEST_CASE("a metric's name is given once") {
    CHECK(error_of(R"(up{__name__="up"})") == "the metric's name is given twice");
    CHECK(error_of(R"(up{__name__=~"u.*"})") == "the metric's name is given twice");
    CHECK(error_of(R"(up{"__name__"!="x"})") == "the metric's name is given twice");
    CHECK(error_of(R"({"up",__name__="down"})") == "the metric's name is given twice");
    CHECK(error_of(R"({__name__="down","up"})") == "the metric's name is given twice");
    CHECK(error_of(R"({"up","down"})") == "second metric name at byte 6");
    CHECK(error_of(R"(up{"up"})") == "second metric name at byte 3");
    SECTION("but may have several matchers") {
        CHECK(canonical(R"({__name__=~"u.*",__name__!="ups"})") == R"({__name__!="ups",__name__=~"u.*"})");
        CHECK(canonical(R"({__name__="up",__name__!="ups"})") == R"({__name__="up",__name__!="ups"})");
        CHECK(canonical(R"({__name__="up",__name__="down"})") == R"({__name__="down",__name__="up"})");
        CHECK(canonical(R"({__name__="up",__name__="up"})") == "up");
    }
}

TEST_CASE("names without quotes are PromQL's") {
    CHECK(canonical(R"({_a1="x"})") == R"({_a1="x"})");
    CHECK(canonical(R"({and="x",by="y",sum="z",inf="0"})") == R"({and="x",by="y",inf="0",sum="z"})");
    CHECK(error_of(R"({1a="x"})") == "expected a label's name or '}', found '1' at byte 1");
    CHECK(error_of(R"({a:b="x"})") == "expected '=', '!=', '=~' or '!~', found ':' at byte 2");
    CHECK(error_of(R"({a-b="x"})") == "expected '=', '!=', '=~' or '!~', found '-' at byte 2");
    CHECK(error_of(R"({ä="x"})") == "expected a label's name or '}', found 'ä' at byte 1");
    CHECK(error_of("{\xff=\"x\"}") == "expected a label's name or '}', found byte 0xff at byte 1");
    CHECK(error_of("9up") == "expected a metric's name or '{', found '9' at byte 0");
}

TEST_CASE("what is no selector is refused, with the byte where it goes wrong") {
    CHECK(error_of("") == "expected a metric's name or '{', found the end at byte 0");
    CHECK(error_of(" ") == "expected a metric's name or '{', found the end at byte 1");
    CHECK(error_of("}") == "expected a metric's name or '{', found '}' at byte 0");
    CHECK(error_of("{") == "expected a label's name or '}', found the end at byte 1");
    CHECK(error_of("up{") == "expected a label's name or '}', found the end at byte 3");
    CHECK(error_of("{a") == "expected '=', '!=', '=~' or '!~', found the end at byte 2");
    CHECK(error_of("{a}") == "expected '=', '!=', '=~' or '!~', found '}' at byte 2");
    CHECK(error_of("{\"a\"") == "expected '=', '!=', '=~' or '!~', found the end at byte 4");
    CHECK(error_of("{a=") == "expected a quoted string, found the end at byte 3");
    CHECK(error_of("{a=}") == "expected a quoted string, found '}' at byte 3");
    CHECK(error_of("{a=b}") == "expected a quoted string, found 'b' at byte 3");
    CHECK(error_of("{a=1}") == "expected a quoted string, found '1' at byte 3");
    CHECK(error_of(R"({a=="1"})") == "expected a quoted string, found '=' at byte 3");
    CHECK(error_of(R"({a=!"1"})") == "expected a quoted string, found '!' at byte 3");
    CHECK(error_of(R"({a~"1"})") == "expected '=', '!=', '=~' or '!~', found '~' at byte 2");
    CHECK(error_of(R"({a>"1"})") == "expected '=', '!=', '=~' or '!~', found '>' at byte 2");
    CHECK(error_of(R"({a="1")") == "expected ',' or '}', found the end at byte 6");
    CHECK(error_of(R"({a="1" b="2"})") == "expected ',' or '}', found 'b' at byte 7");
    CHECK(error_of(R"({a="1";b="2"})") == "expected ',' or '}', found ';' at byte 6");
    CHECK(error_of(R"({a="1" or b="2"})") == "expected ',' or '}', found 'o' at byte 7");
    CHECK(error_of(R"({{a="1"}})") == "expected a label's name or '}', found '{' at byte 1");
    CHECK(error_of(R"({a="1"}})") == "expected the end of the selector, found '}' at byte 7");
    CHECK(error_of(R"({a="1"}{b="2"})") == "expected the end of the selector, found '{' at byte 7");
    CHECK(error_of(R"({up})") == "expected '=', '!=', '=~' or '!~', found '}' at byte 3");

    SECTION("the rest of PromQL too") {
        CHECK(error_of("up[5m]") == "expected the end of the selector, found '[' at byte 2");
        CHECK(error_of("up offset 5m") == "expected the end of the selector, found 'o' at byte 3");
        CHECK(error_of("up @ 0") == "expected the end of the selector, found '@' at byte 3");
        CHECK(error_of("sum(up)") == "expected the end of the selector, found '(' at byte 3");
        CHECK(error_of("(up)") == "expected a metric's name or '{', found '(' at byte 0");
        CHECK(error_of("up == 1") == "expected the end of the selector, found '=' at byte 3");
        CHECK(error_of("up # all of them") == "expected the end of the selector, found '#' at byte 3");
        CHECK(error_of("{ # none\n}") == "expected a label's name or '}', found '#' at byte 2");
    }
}

TEST_CASE("an error says where, for people and for programs") {
    const auto made = parse_selector("{a=b}");
    REQUIRE_FALSE(made.has_value());
    CHECK(made.error().message == "expected a quoted string, found 'b'");
    CHECK(made.error().offset == std::size_t{3});
    CHECK(to_string(made.error()) == "expected a quoted string, found 'b' at byte 3");
    const auto whole = parse_selector("{}");
    REQUIRE_FALSE(whole.has_value());
    CHECK_FALSE(whole.error().offset);
}

TEST_CASE("a bad regular expression is told in RE2's words") {
    CHECK(error_of(R"({a=~"("})") == "bad regular expression (missing ): () at byte 4");
    CHECK(error_of(R"({a="1",b!~"[z-a]"})") ==
          "bad regular expression (invalid character class range: z-a) at byte 10");
    CHECK(error_of(R"({a=~"*"})") == "bad regular expression (no argument for repetition operator: *) at byte 4");
    CHECK(error_of(R"({a=~"\xff"})") == "bad regular expression (invalid UTF-8) at byte 4");
    CHECK(error_of(R"({a=~"(\n"})") == "bad regular expression (missing ): (?) at byte 4");
    CHECK(error_of(R"({a=~"((x{100}){100}){100}"})").starts_with("bad regular expression ("));
    CHECK(error_of("{a=~\"(" + std::string(1000, 'x') + "\"}").size() < 200);
    CHECK(is_utf8(error_of("{a=~\"(" + std::string(118, 'x') + "ü\"}")));
    CHECK(error_of(R"({a="(",b!="[z-a]"})").empty());
}

TEST_CASE("a selector refuses the series that have none of its labels") {
    const std::string refused =
        "selects series that have none of its labels; at least one matcher must refuse the empty string, as in "
        "{__name__=~\".+\"}";
    for (const char* text : {"{}", " { } ", R"({a=""})", R"({a!="x"})", R"({a=~""})", R"({a=~".*"})", R"({a=~"x|"})",
                             R"({a=~"[x]*"})", R"({a!~".+"})", R"({a!~"x"})", R"({__name__=""})", R"({__name__!="up"})",
                             R"({a=~".*",b!="x",c=""})", R"({"a.b"=~".*"})"}) {
        CAPTURE(text);
        CHECK(error_of(text) == refused);
    }
    for (const char* text : {"up", R"({a="x"})", R"({a!=""})", R"({a=~".+"})", R"({a=~"x|y"})", R"({a!~""})",
                             R"({a!~".*"})", R"({a=~".*",b="x"})", R"({__name__=~".+"})", R"(up{a=~".*"})"}) {
        CAPTURE(text);
        CHECK(error_of(text).empty());
    }
}

TEST_CASE("the size of a selector is bounded") {
    const auto of_size = [](std::size_t size) { return "{a=\"" + std::string(size - 6, 'x') + "\"}"; };
    CHECK(error_of(of_size(16 * 1024)).empty());
    CHECK(error_of(of_size(16 * 1024 + 1)) == "selector of more than 16384 bytes");
    CHECK(error_of(std::string(100'000, ' ')) == "selector of more than 16384 bytes");

    std::string many = "{a0=\"x\"";
    for (int i = 1; i < 64; ++i) many += ",a" + std::to_string(i) + "=\"x\"";
    CHECK(error_of(many + "}").empty());
    CHECK(error_of(many + ",b=\"x\"}") == "more than 64 matchers");
    CHECK(error_of("up" + many + "}") == "more than 64 matchers");
}

TEST_CASE("equal values match, case and all") {
    CHECK(matches(R"({job="a"})", {{"job", "a"}}));
    CHECK_FALSE(matches(R"({job="a"})", {{"job", "A"}}));
    CHECK_FALSE(matches(R"({job="a"})", {{"job", "aa"}}));
    CHECK_FALSE(matches(R"({job="a"})", {{"jobs", "a"}}));
    CHECK_FALSE(matches(R"({job="a"})", {{"jo", "a"}}));
    CHECK_FALSE(matches(R"({job="a"})", {}));
    CHECK(matches(R"({job="a"})", {{"__name__", "up"}, {"instance", "i"}, {"job", "a"}, {"zone", "z"}}));
    CHECK(matches(R"({job="a.*"})", {{"job", "a.*"}}));
    CHECK_FALSE(matches(R"({job="a.*"})", {{"job", "abc"}}));
    CHECK(matches(R"({job="\xff"})", {{"job", "\xff"}}));
}

TEST_CASE("a metric's name is the label __name__") {
    for (const char* text :
         {"up", "{\"up\"}", R"({__name__="up"})", R"({__name__=~"up"})", R"({__name__=~"up|ALERTS.*"})"}) {
        CAPTURE(text);
        CHECK(matches(text, {{"__name__", "up"}}));
        CHECK(matches(text, {{"job", "a"}, {"__name__", "up"}}));
        CHECK_FALSE(matches(text, {{"__name__", "ups"}}));
        CHECK_FALSE(matches(text, {{"name", "up"}}));
        CHECK_FALSE(matches(text, {{"job", "up"}}));
        CHECK_FALSE(matches(text, {}));
    }
    CHECK(matches(R"({__name__=~"up|ALERTS.*"})", {{"__name__", "ALERTS_FOR_STATE"}}));
}

TEST_CASE("all matchers must accept") {
    const std::string text = R"(http_requests_total{job="a",code!~"2..",path=~"/api/.+",method!="GET"})";
    const label_list good{
        {"__name__", "http_requests_total"}, {"code", "500"}, {"job", "a"}, {"method", "POST"}, {"path", "/api/x"}};
    CHECK(matches(text, good));
    const auto with = [&](std::size_t index, bytes_view value) {
        label_list changed = good;
        changed[index].value = value;
        return changed;
    };
    CHECK_FALSE(matches(text, with(0, "http_requests")));
    CHECK_FALSE(matches(text, with(1, "204")));
    CHECK(matches(text, with(1, "2040")));
    CHECK_FALSE(matches(text, with(2, "b")));
    CHECK_FALSE(matches(text, with(3, "GET")));
    CHECK_FALSE(matches(text, with(4, "/api/")));
    CHECK_FALSE(matches(text, with(4, "/v2/api/x")));
    SECTION("several on one label too") {
        CHECK(matches(R"({a=~"x.*",a!="xy",a!~".*z"})", {{"a", "xx"}}));
        CHECK_FALSE(matches(R"({a=~"x.*",a!="xy",a!~".*z"})", {{"a", "xy"}}));
        CHECK_FALSE(matches(R"({a=~"x.*",a!="xy",a!~".*z"})", {{"a", "xz"}}));
        CHECK_FALSE(matches(R"({a="x",a="y"})", {{"a", "x"}}));
    }
}

TEST_CASE("a missing label is an empty one") {
    const label_list without{{"__name__", "up"}};
    const label_list empty{{"__name__", "up"}, {"a", ""}};
    for (const label_list& labels : {without, empty}) {
        CHECK(matches(R"(up{a=""})", labels));
        CHECK(matches(R"(up{a=~""})", labels));
        CHECK(matches(R"(up{a=~".*"})", labels));
        CHECK(matches(R"(up{a=~"x|"})", labels));
        CHECK(matches(R"(up{a=~"[x]?"})", labels));
        CHECK(matches(R"(up{a!="x"})", labels));
        CHECK(matches(R"(up{a!~"x"})", labels));
        CHECK(matches(R"(up{a!~".+"})", labels));
        CHECK_FALSE(matches(R"(up{a!=""})", labels));
        CHECK_FALSE(matches(R"(up{a="x"})", labels));
        CHECK_FALSE(matches(R"(up{a=~".+"})", labels));
        CHECK_FALSE(matches(R"(up{a=~"[^x]"})", labels));
        CHECK_FALSE(matches(R"(up{a!~".*"})", labels));
        CHECK_FALSE(matches(R"(up{a!~""})", labels));
    }
    CHECK_FALSE(matches("up", {}));
}

TEST_CASE("the order of labels and matchers does not count") {
    label_list labels{{"a", "1"}, {"b", "2"}, {"c", "3"}};
    do {
        CHECK(matches(R"({c="3",a="1",b=~"[2]"})", labels));
        CHECK_FALSE(matches(R"({c="3",a="1",b!~"[2]"})", labels));
    } while (std::next_permutation(labels.begin(), labels.end(),
                                   [](const label_view& x, const label_view& y) { return x.name < y.name; }));
}

TEST_CASE("of labels with the same name the first that is not empty counts") {
    const label_list labels{{"a", ""}, {"a", "1"}, {"a", "2"}};
    CHECK(label_value(labels, "a") == "1");
    CHECK(label_value(labels, "b").empty());
    CHECK(matches(R"({a="1"})", labels));
    CHECK_FALSE(matches(R"({a="2"})", labels));
}

TEST_CASE("names in quotes select labels with such names") {
    const label_list labels{{"__name__", "my.metric"}, {"k8s.pod.name", "p-1"}, {"größe", "1"}};
    CHECK(matches(R"({"my.metric"})", labels));
    CHECK(matches(R"({"my.metric","k8s.pod.name"=~"p-.+","größe"="1"})", labels));
    CHECK_FALSE(matches(R"({"my.metric","k8s.pod.name"="p"})", labels));
    CHECK_FALSE(matches(R"({"my_metric"})", labels));
}

TEST_CASE("values that are not UTF-8 are values like others") {
    for (const std::string value : {"\xff", "a\xc3", "\xed\xa0\x80", "\xf4\x90\x80\x80z"}) {
        CAPTURE(value);
        const label_list labels{{"a", value}};
        CHECK(matches(R"({a=~".+"})", labels));
        CHECK(matches(R"({a!=""})", labels));
        CHECK(matches(R"({a=~".*[^q].*"})", labels));
        CHECK(matches(R"({a!~"[a-z]*",a!=""})", labels));
        CHECK_FALSE(matches(R"({a=~"[a-z]+"})", labels));
    }
}

TEST_CASE("a default selector matches every series") {
    CHECK(selector{}.matches({}));
    CHECK(selector{}.matches(label_list{{"a", "b"}}));
    CHECK(selector{}.to_string() == "{}");
    CHECK(selector{} == selector{});
    CHECK_FALSE(selector{} == parsed("up"));
}

TEST_CASE("selectors are equal when their matchers are") {
    CHECK(parsed(R"(up{b="2",a="1"})") == parsed(R"({a='1', __name__=`up`, "b"="\x32",})"));
    CHECK(parsed(R"({a="1",a="1"})") == parsed(R"({a="1"})"));
    CHECK_FALSE(parsed(R"({a="1"})") == parsed(R"({a=~"1"})"));
    CHECK_FALSE(parsed(R"({a="1"})") == parsed(R"({a="2"})"));
    CHECK_FALSE(parsed(R"({a="1"})") == parsed(R"({b="1"})"));
    CHECK_FALSE(parsed(R"({a="1"})") == parsed(R"({a="1",b="1"})"));
}

TEST_CASE("selectors are copied and moved") {
    STATIC_REQUIRE(std::is_nothrow_move_constructible_v<selector>);
    STATIC_REQUIRE(std::is_nothrow_move_assignable_v<selector>);
    selector original = parsed(R"({a=~"[a-c]+",b!="x"})");
    const selector copy = original;
    const selector moved = std::move(original);
    original = selector{};
    CHECK(copy == moved);
    CHECK(copy.matches(label_list{{"a", "abc"}}));
    CHECK_FALSE(moved.matches(label_list{{"a", "abd"}}));
}

TEST_CASE("one selector serves many threads") {
    const selector shared = parsed(R"({a=~"x[0-9]*[02468]",b=~"p.*|q"})");
    std::vector<std::thread> threads;
    std::array<int, 4> matched{};
    for (std::size_t t = 0; t < matched.size(); ++t)
        threads.emplace_back([&, t] {
            for (int i = 0; i < 2000; ++i) {
                std::string value = "x";
                value += std::to_string(i);
                matched[t] += shared.matches(label_list{{"a", value}, {"b", "p1"}});
            }
        });
    for (std::thread& thread : threads) thread.join();
    for (const int count : matched) CHECK(count == 1000);
}

TEST_CASE("random selectors match as PromQL defines it, and survive being written out") {
    std::mt19937 random{GENERATE(1u, 2u, 3u)};
    const std::vector<std::string> names{"__name__", "a", "b", "c.d", "ü", "E"};
    const std::vector<std::string> values{"", "x", "y", "xy", "x.y", "x\ny", "ü", "\xff", "x\"\\'`", "\0"s, "7"};
    const std::vector<std::string> patterns{"",    "x",  "x|y",    ".*", ".+",    "x.*", "x.+",       "[xy]*",
                                            "x?y", "|x", "(?i)X.", ".",  "[^x]+", "\\d", "x\\.y|ü.*", "\n"};
    const auto pick = [&](const auto& from) -> const auto& {
        return from[random() % from.size()];
    };
    const auto quote = [&](const std::string& text) {
        if (text.find_first_of("`\xff") == std::string::npos && random() % 3 == 0) return "`" + text + "`";
        const char mark = random() % 2 == 0 ? '"' : '\'';
        std::string out{mark};
        for (const char c : text) {
            const auto byte = static_cast<unsigned char>(c);
            constexpr std::string_view digits = "0123456789abcdef";
            if (c == mark || c == '\\')
                out.append("\\").append(1, c);
            else if (c == '\n' || byte == 0xff)
                out.append("\\x").append(1, digits[byte >> 4]).append(1, digits[byte & 15]);
            else
                out += c;
        }
        return out + mark;
    };
    const std::vector<std::string> ops{"=", "!=", "=~", "!~"};
    int accepted = 0;
    int matched = 0;
    for (int round = 0; round < 3000; ++round) {
        struct condition {
            std::string name;
            std::size_t op;
            std::string value;
        };
        std::vector<condition> conditions(random() % 4);
        std::string text = "{";
        for (condition& each : conditions) {
            each = {pick(names), random() % 4, ""};
            each.value = each.op < 2 ? pick(values) : pick(patterns);
            text += quote(each.name) + ops[each.op] + quote(each.value) + ",";
        }
        if (conditions.empty() || random() % 2 == 0) text += "a!=\"\"", conditions.push_back({"a", 1, ""});
        text += "}";
        const auto holds = [&](const condition& each, const std::string& value) {
            if (each.op == 0) return value == each.value;
            if (each.op == 1) return value != each.value;
            const re2::RE2 regex{"^(?s:" + each.value + ")$"};
            return re2::RE2::FullMatch(repaired_utf8(value), regex) == (each.op == 2);
        };
        CAPTURE(text);
        const auto made = parse_selector(text);
        const bool refuses_empty =
            std::any_of(conditions.begin(), conditions.end(), [&](const condition& c) { return !holds(c, ""); });
        if (made.has_value() != refuses_empty) FAIL("accepted: " << made.has_value());
        if (!made) continue;
        ++accepted;

        const auto again = parse_selector(made->to_string());
        CAPTURE(made->to_string());
        if (!again) FAIL(to_string(again.error()));
        if (!(*again == *made) || again->to_string() != made->to_string()) FAIL("another selector when read again");

        for (int i = 0; i < 10; ++i) {
            std::map<std::string, std::string> series;
            for (std::size_t count = random() % 5; count > 0; --count) series[pick(names)] = pick(values);
            label_list labels;
            for (const auto& [name, value] : series) labels.push_back({name, value});
            std::shuffle(labels.begin(), labels.end(), random);
            const bool expected = std::all_of(conditions.begin(), conditions.end(), [&](const condition& each) {
                const auto found = series.find(each.name);
                return holds(each, found == series.end() ? "" : found->second);
            });
            matched += expected;
            if (made->matches(labels) != expected || again->matches(labels) != expected) FAIL("expected " << expected);
        }
    }
    CHECK(accepted > 1000);
    CHECK(matched > 2000);
}

}  // namespace selector_test
