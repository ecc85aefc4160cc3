#include "config/config_error.hpp"

#include <type_traits>

#include "core/secret_text.hpp"
#include "support/catch.hpp"
#include "support/cpu_time.hpp"

namespace seriesgate::testing::wording_test {
namespace {

constexpr std::array<std::string_view, 6> keys{"listen",          "upstream",       "upstream.timeout",
                                               "maxHourlySeries", "maxDailySeries", "server.maxRequestBytes"};

std::string without_arguments(const secret_text& url, std::string_view text) {
    std::vector<secret_text> arguments;
    add_arguments_of(url, arguments);
    return without(std::move(arguments), text);
}

TEST_CASE("what the user wrote stays on one line and is cut when long") {
    CHECK(in_quotes("abc") == "'abc'");
    CHECK(in_quotes("a\u009bb\u202ec\u00fc\xff") == "'a?b?c\u00fc\xff'");
    CHECK(in_quotes("a\nb\r\tc\x7f\x1b[31m") == "'a?b??c??[31m'");
    CHECK(in_quotes(std::string(80, 'x')) == "'" + std::string(80, 'x') + "'");
    CHECK(in_quotes(std::string(81, 'x')) == "'" + std::string(80, 'x') + "...'");
    CHECK(printable("abcdef", 3) == "abc...");
    CHECK(printable("\xc3\xa4", 80) == "\xc3\xa4");
}

TEST_CASE("the key that was probably meant is found, in the wrong section by its last part, and none if none is near") {
    CHECK(closest("maxHourlySerie", keys) == "maxHourlySeries");
    CHECK(closest("maxHourlySeriess", keys) == "maxHourlySeries");
    CHECK(closest("max_hourly_series", keys) == "maxHourlySeries");
    CHECK(closest("max-daily-series", keys) == "maxDailySeries");
    CHECK(closest("MAXDAILYSERIES", keys) == "maxDailySeries");
    CHECK(closest("lisen", keys) == "listen");
    CHECK(closest("upstraem", keys) == "upstream");
    CHECK(closest("timeout", keys) == "upstream.timeout");
    CHECK(closest("maxRequestBytes", keys) == "server.maxRequestBytes");
    CHECK(closest("server.maxHourlySeries", keys) == "maxHourlySeries");
    CHECK(closest("tenants", keys).empty());
    CHECK(closest("", keys).empty());
    CHECK(closest("x", keys).empty());
    CHECK(closest(std::string(100'000, 'l'), keys).empty());
    CHECK(closest("listen", {}).empty());
}

TEST_CASE("a secret does not turn into text by itself") {
    static_assert(!std::is_convertible_v<secret_text, std::string>);
    static_assert(!std::is_convertible_v<secret_text, std::string_view>);
    const secret_text secret{"http://a/w?token=x"};
    CHECK(secret.reveal() == "http://a/w?token=x");
    CHECK(secret == "http://a/w?token=x");
    CHECK_FALSE(secret == secret_text{});
}

TEST_CASE("URLs lose their credentials and their query, and other texts stay as they are") {
    CHECK(without_secrets("http://host:8428/write?token=abc&x=y") == "http://host:8428/write?<secret>");
    CHECK(without_secrets("http://user:pass@host/write") == "http://<secret>@host/write");
    CHECK(without_secrets("http://user:pass@host/write?a=b") == "http://<secret>@host/write?<secret>");
    CHECK(without_secrets("http://user:pa/ss@host/write") == "http://<secret>@host/write");
    CHECK(without_secrets("http://host/write?a=b c=d http://x@y") == "http://host/write?<secret>");
    CHECK(without_secrets("http://host/write?abc") == "http://host/write?<secret>");
    CHECK(without_secrets("me@x http://a/b") == "me@x http://a/b");
    CHECK(without_secrets("me@x http://a/b http://u@c://d") == "me@x http://<secret>@c://d");
    CHECK(without_secrets("http://a/b then http://u@c/d?e") == "http://<secret>@c/d?<secret>");
    CHECK(without_secrets("host:8428/write?token=abc") == "host:8428/write?<secret>");
    CHECK(without_secrets("/write?extra_filters[]=abc") == "/write?<secret>");
    for (const char* text : {"", "http://host/write", "http://host/write?", "discard:", "{a=~\"x?\"}", "{a=~\"x?y\"}",
                             "(?i)a", "what?", "10.0.0.1:9201", "me@example.org", "?=", "://"})
        CHECK(without_secrets(text) == text);
}

TEST_CASE("a text of nothing but schemes takes no longer than any other") {
    std::string text;
    while (text.size() < 900'000) text += "://";
    CHECK(cpu_seconds_of([&text] {
              CHECK(without_secrets(text) == text);
              CHECK(without_secrets(text + "@") == "://<secret>@");
          }) < 5);
}

TEST_CASE("what was sent to the store is not shown when the store repeats it") {
    const secret_text url{"http://store/w?extra_label=a=b&token=abc&"};
    CHECK(without_arguments(url, "requestURI: /w?extra_label=a=b&token=abc; no disk") ==
          "requestURI: /w?<secret>&<secret>; no disk");
    CHECK(without_arguments(url, "token=abc token=abcd, token=ab") == "<secret> <secret>d, token=ab");
    CHECK(without_arguments(url, "") == "");
    CHECK(without_arguments("http://store/w?token=abcd", "unknown token abcd") == "unknown token <secret>");
    CHECK(without_arguments("http://store/w?a=b+c%2fd&e=%4", "'b+c%2fd' is 'b c/d', e=%4 '%4'") ==
          "'<secret>' is '<secret>', <secret> '%4'");
    CHECK(without_arguments("http://store/w?a=secret&b=secret", "b=secret secret") == "<secret> <secret>");
    CHECK(without_arguments("http://store/w?a=1234&b=123456", "123456 1234") == "<secret> <secret>");
    CHECK(without_arguments("http://store/w?abcd=longer&longer=abcd", "longer=abcd abcd=longer") ==
          "<secret> <secret>");
    CHECK(without_arguments("http://store/w", "a?b") == "a?b");
    CHECK(without_arguments("http://store/w?", "a?b") == "a?b");
    CHECK(without_arguments("http://store/w?a=b", "a=bc") == "a=bc");
    CHECK(without_arguments("http://store/w?secret", "a secret") == "a <secret>");
}

TEST_CASE("no secret is searched for in what stands for another, or in a part of one") {
    CHECK(without({"abcd", "abcd-efgh", "secret"}, "abcd-efgh, abcd, secret") == "<secret>, <secret>, <secret>");
    CHECK(without({"abc", ""}, "abc") == "abc");
    CHECK(without({}, "abc") == "abc");
}

TEST_CASE("what errors repeat has no secrets") {
    CHECK(in_quotes("http://host/write?token=abc") == "'http://host/write?<secret>'");
    CHECK(printable("http://u:p@host/" + std::string(100, 'x'), 20) == "http://<secret>@host...");
}

}  // namespace
}  // namespace seriesgate::testing::wording_test
