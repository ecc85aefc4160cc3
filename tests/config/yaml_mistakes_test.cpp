#include "config/yaml_mistakes.hpp"

#include <string>
#include <string_view>

#include "config/loading.hpp"
#include "config/yaml_scan.hpp"
#include "support/catch.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;

// The mistakes themselves: tests/e2e/test_config_mistakes.py.

TEST_CASE("quotes and brackets that are in order are not found") {
    for (const std::string_view text : {"a: 'it''s'\n",
                                        "a: \"a \\\" b\"\n",
                                        "a: it's # 'x\n",
                                        "# 'x\na: b\n",
                                        "a: b'c\"d\n",
                                        "a: |\n  'x\n  \"y\n\nb: 'z'\n",
                                        "- |\n 'x\n- >\n \"y\n",
                                        "a: {b: ['c', \"d\"], 'e': f}\n",
                                        "'a': b\n\"c\": d\n",
                                        "a: 'b' # 'c\n",
                                        "a: '{b=~\"c\"}'\n",
                                        "a: &x 'b'\nc: !!str 'd'\n",
                                        "? 'a'\n: 'b'\n",
                                        "a:\r\n  - 'b'\r\n",
                                        "a: b # [\n",
                                        "a: b[0\n",
                                        "a: b\n  'c\n\n  \"d\ne: 'f'\n",
                                        "a: [b\n 'c, 'd']\n",
                                        "a: \"\\\\\"\n",
                                        ""}) {
        CAPTURE(text);
        const yaml_scan found = scan_yaml(text);
        CHECK(found.odd_quotes.empty());
        CHECK(found.open_brackets.empty());
    }
}

TEST_CASE("a quote is found where it opens") {
    const auto only_quote = [](std::string_view text) {
        const yaml_scan found = scan_yaml(text);
        REQUIRE(found.odd_quotes.size() == 1);
        return found.odd_quotes[0];
    };
    CHECK(only_quote("a: b\nc: 'd\ne: f\n").line == 2);
    CHECK(only_quote("a: b\nc: 'd\ne: f\n").end_line == 0);
    CHECK(only_quote("a: |\n  'x\nb: \"y\n").line == 3);
    CHECK(only_quote("- \"a\n\n  b\"\n").end_line == 3);
    CHECK(only_quote("a: \"\\\"\n").end_line == 0);
    CHECK(only_quote("a: 'b'c\n").line == 1);
    CHECK_FALSE(only_quote("a: 'b'c\n").ends_value);
    CHECK(scan_yaml("a: [b\nc: {d: [e]\n").open_brackets.size() == 2);
}

TEST_CASE("a quote over several lines that is closed in the end is a value") {
    CHECK(loaded("state: {dir: 'a\n  b'}\n").state.dir == "a b");
    CHECK(loaded("exempt: ['{a=\"b\",\n          c=\"d\"}']\n").rules.exempt.size() == 1);
}

TEST_CASE("line ends of Windows and a mark of the byte order change nothing") {
    CHECK(loaded("\xef\xbb\xbfmaxHourlySeries: 5\r\nserver:\r\n  threads: 2\r\n").rules.global.hourly == 5);
    CHECK(errors_of("listen: :1\r\nserver:\r\n\tthreads: 2\r\n") ==
          lines{"c.yaml:3: not valid YAML: a tab indents this line; YAML takes only spaces for that"});
}

TEST_CASE("tabs elsewhere are no mistake") {
    CHECK(loaded("server:\n  threads:\t2 \t\n").server.threads == 2);
    CHECK(errors_of("a: |\n  x\n  \ty\nb: [\n", {}) ==
          lines{"c.yaml:4: not valid YAML: the [ that opens here is never closed"});
    CHECK(errors_of("server:\n  threads: 2\n\t\nlisten: :1\n", {}) ==
          lines{"c.yaml:3: not valid YAML: a tab indents this line; YAML takes only spaces for that"});
}
