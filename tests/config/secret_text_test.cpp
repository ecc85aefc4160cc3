#include "config/secret_text.hpp"

#include <type_traits>

#include "config/wording.hpp"
#include "support/catch.hpp"
#include "support/cpu_time.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;

TEST_CASE("a secret does not turn into text by itself") {
    static_assert(!std::is_convertible_v<secret_text, std::string>);
    static_assert(!std::is_convertible_v<secret_text, std::string_view>);
    const secret_text secret{"http://a/w?token=x"};
    CHECK(secret.reveal() == "http://a/w?token=x");
    CHECK(secret == "http://a/w?token=x");
    CHECK_FALSE(secret == secret_text{});
}

TEST_CASE("URLs lose their credentials and their query") {
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
}

TEST_CASE("a text of nothing but schemes takes no longer than any other") {
    std::string text;
    while (text.size() < 900'000) text += "://";
    CHECK(cpu_seconds_of([&text] {
              CHECK(without_secrets(text) == text);
              CHECK(without_secrets(text + "@") == "://<secret>@");
          }) < 5);
}

TEST_CASE("other texts stay as they are") {
    for (const char* text : {"", "http://host/write", "http://host/write?", "discard:", "{a=~\"x?\"}", "{a=~\"x?y\"}",
                             "(?i)a", "what?", "10.0.0.1:9201", "me@example.org", "?=", "://"})
        CHECK(without_secrets(text) == text);
}

TEST_CASE("what was sent to the store is not shown when the store repeats it") {
    const secret_text url{"http://store/w?extra_label=a=b&token=abc&"};
    CHECK(without_arguments_of(url, "requestURI: /w?extra_label=a=b&token=abc; no disk") ==
          "requestURI: /w?<secret>&<secret>; no disk");
    CHECK(without_arguments_of(url, "token=abc token=abcd, token=ab") == "<secret> <secret>d, token=ab");
    CHECK(without_arguments_of(url, "") == "");
    CHECK(without_arguments_of("http://store/w", "a?b") == "a?b");
    CHECK(without_arguments_of("http://store/w?", "a?b") == "a?b");
    CHECK(without_arguments_of("http://store/w?a=b", "a=bc") == "a=bc");
    CHECK(without_arguments_of("http://store/w?secret", "a secret") == "a <secret>");
}

TEST_CASE("what errors repeat has no secrets") {
    CHECK(in_quotes("http://host/write?token=abc") == "'http://host/write?<secret>'");
    CHECK(printable("http://u:p@host/" + std::string(100, 'x'), 20) == "http://<secret>@host...");
}
