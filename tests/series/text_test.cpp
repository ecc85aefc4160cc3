#include "series/label.hpp"

#include "support/catch.hpp"

namespace seriesgate::testing::text_test {
namespace {

std::string text_of(const std::vector<label_view>& labels) {
    return to_text(labels);
}

TEST_CASE("a series is written as PromQL shows it, the metric's name first, without labels that have no value") {
    CHECK(text_of({{"__name__", "up"}}) == "up");
    CHECK(text_of({{"__name__", "up"}, {"job", "a"}}) == R"(up{job="a"})");
    CHECK(text_of({{"__name__", "up"}, {"instance", "b:9100"}, {"job", "a"}}) == R"(up{instance="b:9100",job="a"})");
    CHECK(text_of({{"job", "a"}}) == R"({job="a"})");
    CHECK(text_of({}) == "{}");
    CHECK(text_of({{"job", "a"}, {"__name__", "up"}, {"zone", "z"}}) == R"(up{job="a",zone="z"})");
    CHECK(text_of({{"__name__", "up"}, {"job", ""}, {"zone", "z"}}) == R"(up{zone="z"})");
    CHECK(text_of({{"__name__", "up"}, {"job", ""}}) == "up");
}

TEST_CASE("what would break a line of the log is escaped") {
    CHECK(text_of({{"job", "a\"b\\c"}}) == R"({job="a\"b\\c"})");
    CHECK(text_of({{"job", "a\nb\r\0\x1b\x7f"s}}) == R"({job="a\x0ab\x0d\x00\x1b\x7f"})");
    CHECK(text_of({{"job", "\u009b31m \u2028 \u202e"}}) == R"({job="\u009b31m \u2028 \u202e"})");
    CHECK(text_of({{"__name__", "u\np"}, {"j\tb", "x"}}) == R"(u\x0ap{j\x09b="x"})");
    SECTION("UTF-8 stays") {
        CHECK(text_of({{"stadt", "Zürich"}}) == R"({stadt="Zürich"})");
    }
    SECTION("bytes that are no UTF-8 do not") {
        CHECK(text_of({{"bytes", "\xe9\xffü"}}) == R"({bytes="\xe9\xffü"})");
    }
}

TEST_CASE("the text is cut to about the size asked for") {
    std::vector<label_view> labels{{"__name__", "up"}};
    labels.resize(1000, label_view{"name", "value"});
    const std::string text = to_text(labels, 100);
    CHECK(text.size() < 150);
    CHECK(text.find(R"(up{name="value",)") == 0);
    CHECK(text.substr(text.size() - 5) == ",...}");

    SECTION("one huge label included") {
        const std::string huge(1 << 20, 'x');
        CHECK(to_text(std::vector<label_view>{{huge, huge}}, 100).size() < 300);
        CHECK(to_text(std::vector<label_view>{{"__name__", huge}, {"job", huge}}, 100).size() < 300);
    }
}

TEST_CASE("texts that differ are readable in different ways") {
    const std::vector<std::string> texts{"\xff",   R"(\xff)", R"(\\xff)", R"(\)",    R"(\\)",  "a",
                                         "\xff\\", "\\\xff",  "\x1b",     R"(\x1b)", "\u202e", R"(\u202e)"};
    std::set<std::string> shown;
    for (const std::string& text : texts) CHECK(shown.insert(readable(text)).second);
    for (const std::string& text : texts) CHECK(unreadable(readable(text)) == text);
    CHECK(unreadable(readable("\x1b[31m\u009b1m\u202e\\x41\\\\u0041")) == "\x1b[31m\u009b1m\u202e\\x41\\\\u0041");
    CHECK(unreadable("\\x") == "\0"s);  // what readable() never makes does no harm
    CHECK(unreadable("\\") == "\\");
    CHECK(readable("\xff") == R"(\xff)");
    CHECK(readable(R"(\xff)") == R"(\\xff)");
    CHECK(readable("Zürich \n\"") == R"(Zürich \x0a")");
    CHECK(readable("\x1b[31m\u009b1m\u202e") == R"(\x1b[31m\u009b1m\u202e)");
}

TEST_CASE("long values are cut in the middle before a label is left out") {
    const std::string url = "/api/v1/" + std::string(500, 'x') + "/orders";
    const std::vector<label_view> labels{
        {"__name__", "requests_total"}, {"id", "4bf92f3577b34da6a3ce929d0e0e4736"}, {"path", url}, {"pod", "shop-1"}};
    CHECK(
        to_text(labels, 110) ==
        R"(requests_total{id="4bf92f3577b34da6a3ce929d0e0e4736",path="/api/v1/xxxxxxxxx...xxxxxxxxxx/orders",pod="shop-1"})");
    CHECK(to_text(labels, 10'000).find(url) != std::string::npos);
}

TEST_CASE("values that fit are not cut") {
    std::vector<label_view> labels{{"__name__", "m"}};
    const std::string value(40, 'v');
    for (const char* name : {"a", "b", "c", "d", "e"}) labels.push_back({name, value});
    const std::string text = to_text(labels, 5 * (40 + 5) + 1);
    CHECK(text.find("...") == std::string::npos);
    CHECK(to_text(labels, 5 * (40 + 5)).find("...") != std::string::npos);
}

TEST_CASE("no character is cut") {
    for (std::size_t size = 10; size < 40; ++size) {
        const std::string name(size, 'a');
        std::string value = name;
        for (int i = 0; i < 100; ++i) value += "ü";
        value += name;
        const std::string text = to_text(std::vector<label_view>{{"n", value}}, size);
        CHECK(text.find("\\x") == std::string::npos);
        CHECK(text.find("...") != std::string::npos);
    }
}

TEST_CASE("the first label is always there, after a name of any length") {
    const std::string huge(10'000, 'n');
    CHECK(to_text(std::vector<label_view>{{"__name__", huge}, {"id", huge}}, 256).find("{id=\"nnn") !=
          std::string::npos);
}

}  // namespace
}  // namespace seriesgate::testing::text_test
