#include "series/selector.hpp"

#include <re2/re2.h>

#include <random>
#include <thread>
#include <type_traits>

#include "core/text.hpp"
#include "support/catch.hpp"

namespace seriesgate::testing::selector_test {
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

/// What was expected, up to what was found.
constexpr const char* the_end = "expected the end of the selector, found ";
constexpr const char* name_or_brace = "expected a metric's name or '{', found ";
constexpr const char* label_or_brace = "expected a label's name or '}', found ";
constexpr const char* op = "expected '=', '!=', '=~' or '!~', found ";
constexpr const char* quoted_string = "expected a quoted string, found ";

void check_errors(const std::string& expected, const std::vector<std::pair<std::string, std::string>>& found_in) {
    for (const auto& [text, found] : found_in) CHECK(error_of(text) == expected + found);
}

bool matches(std::string_view text, const label_list& labels) {
    return parsed(text).matches(labels);
}

TEST_CASE("a metric's name is a selector") {
    for (const char* name : {"up", "node_cpu_seconds_total", "job:rate:5m", ":up", "_", "U9", "sum", "nan"})
        CHECK(canonical(name) == name);
    CHECK(canonical("up{}") == "up");
    CHECK(canonical("offset{by=\"x\"}") == "offset{by=\"x\"}");
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
        check_errors(quoted_string, {{R"({a= ~"1"})", "'~' at byte 4"}});
        check_errors(op, {{R"({a! ="1"})", "'!' at byte 2"}});
        check_errors(the_end, {{"u p", "'p' at byte 2"}});
    }
    SECTION("and only PromQL's") {
        check_errors(the_end, {{"up\f", "byte 0x0c at byte 2"}, {"up\v", "byte 0x0b at byte 2"}});
        check_errors(the_end, {{"up\0"s, "byte 0x00 at byte 2"}});
        check_errors(name_or_brace, {{"\u00a0up", "'\u00a0' at byte 0"}});
    }
}

TEST_CASE("one comma may follow the last matcher") {
    CHECK(canonical(R"({a="1",})") == R"({a="1"})");
    CHECK(canonical(R"({a="1" , })") == R"({a="1"})");
    CHECK(canonical(R"({"up",})") == "up");
    check_errors(label_or_brace, {{"{,}", "',' at byte 1"},
                                  {"up{,}", "',' at byte 3"},
                                  {R"({,a="1"})", "',' at byte 1"},
                                  {R"({a="1",,})", "',' at byte 7"},
                                  {R"({a="1",,b="2"})", "',' at byte 7"}});
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
        CHECK(error_of(R"({a='\"'})").starts_with(R"(unknown escape \" ()"));
        CHECK(error_of("{a=\"\\\n\"}").starts_with(R"(unknown escape \? ()"));
        CHECK(error_of("{a=\"\\\xff\"}").starts_with(R"(unknown escape \ ()"));
        for (const std::string escape : {R"(\')", R"(\`)", R"(\ü)", R"(\8)"})
            CHECK(error_of("{a=\"" + escape + "\"}").starts_with("unknown escape " + escape + " ("));
    }
    SECTION("complete") {
        for (const std::string escape : {R"(\7)", R"(\77)", R"(\x)", R"(\x4)", R"(\u12)", R"(\U0001F68)"})
            CHECK(error_of("{a=\"" + escape + "\"}") == "incomplete escape " + escape + " at byte 4");
        CHECK(error_of(R"({a="\778"})") == R"(incomplete escape \77 at byte 4)");
        CHECK(error_of(R"({a="\x4g"})") == R"(incomplete escape \x4 at byte 4)");
        CHECK(error_of(R"({a="\x4)") == R"(incomplete escape \x4 at byte 4)");
    }
    SECTION("and of characters that exist") {
        for (const std::string escape :
             {R"(\400)", R"(\777)", R"(\ud800)", R"(\uDFFF)", R"(\U00110000)", R"(\Uffffffff)"})
            CHECK(error_of("{a=\"" + escape + "\"}") == "impossible character " + escape + " at byte 4");
    }
}

TEST_CASE("strings end, on their line, and are UTF-8") {
    for (const char* text : {R"({a=")", R"({a="1)", R"({a="1'})", R"({a="1\)", R"({a="1\"})", "{a=`1\\", "{a='1\n'}"})
        CHECK(error_of(text) == "string without its end at byte 3");
    CHECK(error_of("{\"a") == "string without its end at byte 1");
    CHECK(error_of("{a=\"1\xff\"}") == "bytes that are not UTF-8 at byte 5");
    CHECK(error_of("{a=`\xc3`}") == "bytes that are not UTF-8 at byte 4");
}

TEST_CASE("names in quotes may be any UTF-8") {
    for (const char* text : {R"({"my.metric"})", R"({"a:b"="x"})", R"({"a\"\\\n"="x"})"})
        CHECK(canonical(text) == text);
    CHECK(canonical(R"({"my.metric", "label.name"="x"})") == R"({"my.metric","label.name"="x"})");
    CHECK(canonical(R"({"label.name"="x",'my.metric'})") == R"({"my.metric","label.name"="x"})");
    CHECK(canonical(R"({A="x","my.metric"})") == R"({"my.metric",A="x"})");
    CHECK(canonical(R"({`größe`!="0",stadt="Zürich"})") == R"({"größe"!="0",stadt="Zürich"})");
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
        check_errors(name_or_brace, {{R"("my.metric")", "'\"' at byte 0"}});
        check_errors(the_end, {{"my.metric", "'.' at byte 2"}, {"größe", "'ö' at byte 2"}});
    }
}

TEST_CASE("a metric's name is given once") {
    for (const char* text : {R"(up{__name__="up"})", R"(up{__name__=~"u.*"})", R"(up{"__name__"!="x"})",
                             R"({"up",__name__="down"})", R"({__name__="down","up"})"})
        CHECK(error_of(text) == "the metric's name is given twice");
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
    check_errors(
        label_or_brace,
        {{R"({1a="x"})", "'1' at byte 1"}, {R"({ä="x"})", "'ä' at byte 1"}, {"{\xff=\"x\"}", "byte 0xff at byte 1"}});
    check_errors(op, {{R"({a:b="x"})", "':' at byte 2"}, {R"({a-b="x"})", "'-' at byte 2"}});
    check_errors(name_or_brace, {{"9up", "'9' at byte 0"}});
}

TEST_CASE("what is no selector is refused, with the byte where it goes wrong") {
    check_errors(
        name_or_brace,
        {{"", "the end at byte 0"}, {" ", "the end at byte 1"}, {"}", "'}' at byte 0"}, {"(up)", "'(' at byte 0"}});
    check_errors(label_or_brace, {{"{", "the end at byte 1"},
                                  {"up{", "the end at byte 3"},
                                  {R"({{a="1"}})", "'{' at byte 1"},
                                  {"{ # none\n}", "'#' at byte 2"}});
    check_errors(op, {{"{a", "the end at byte 2"},
                      {"{a}", "'}' at byte 2"},
                      {"{\"a\"", "the end at byte 4"},
                      {R"({a~"1"})", "'~' at byte 2"},
                      {R"({a>"1"})", "'>' at byte 2"},
                      {R"({up})", "'}' at byte 3"}});
    check_errors(quoted_string, {{"{a=", "the end at byte 3"},
                                 {"{a=}", "'}' at byte 3"},
                                 {"{a=b}", "'b' at byte 3"},
                                 {"{a=1}", "'1' at byte 3"},
                                 {R"({a=="1"})", "'=' at byte 3"},
                                 {R"({a=!"1"})", "'!' at byte 3"}});
    check_errors("expected ',' or '}', found ", {{R"({a="1")", "the end at byte 6"},
                                                 {R"({a="1" b="2"})", "'b' at byte 7"},
                                                 {R"({a="1";b="2"})", "';' at byte 6"},
                                                 {R"({a="1" or b="2"})", "'o' at byte 7"}});
    check_errors(the_end, {{R"({a="1"}})", "'}' at byte 7"}, {R"({a="1"}{b="2"})", "'{' at byte 7"}});
    // The rest of PromQL.
    check_errors(the_end, {{"up[5m]", "'[' at byte 2"},
                           {"up offset 5m", "'o' at byte 3"},
                           {"up @ 0", "'@' at byte 3"},
                           {"sum(up)", "'(' at byte 3"},
                           {"up == 1", "'=' at byte 3"},
                           {"up # all of them", "'#' at byte 3"}});
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

TEST_CASE("an error is one line, and shows no control character") {
    check_errors(the_end, {{"up\u009b", R"('\u009b' at byte 2)"}, {"up\u2028", R"('\u2028' at byte 2)"}});
    CHECK(error_of("{a=~\"(\u009b\"}") == "bad regular expression (missing ): (?) at byte 4");
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

TEST_CASE("names and values match whole, case and all") {
    CHECK(matches(R"({job="a"})", {{"__name__", "up"}, {"instance", "i"}, {"job", "a"}, {"zone", "z"}}));
    for (const label_list& other : {label_list{}, {{"job", "A"}}, {{"job", "aa"}}, {{"jobs", "a"}}, {{"jo", "a"}}})
        CHECK_FALSE(matches(R"({job="a"})", other));
    CHECK(matches(R"({job="a.*"})", {{"job", "a.*"}}));
    CHECK_FALSE(matches(R"({job="a.*"})", {{"job", "abc"}}));
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

TEST_CASE("of labels with the same name the first that is not empty counts") {
    const label_list labels{{"a", ""}, {"a", "1"}, {"a", "2"}};
    CHECK(label_value(labels, "a") == "1");
    CHECK(label_value(labels, "b").empty());
    CHECK(matches(R"({a="1"})", labels));
    CHECK_FALSE(matches(R"({a="2"})", labels));
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

}  // namespace
}  // namespace seriesgate::testing::selector_test
