#include "admin/html_text.hpp"

#include "support/catch.hpp"

using namespace seriesgate;
using namespace std::chrono_literals;

TEST_CASE("no text becomes markup") {
    CHECK(escaped("<script>alert(1)</script>\"'&lt;&amp;<!--\x01\x7f]]>") ==
          "&lt;script&gt;alert(1)&lt;/script&gt;&quot;&#39;&amp;lt;&amp;amp;&lt;!--\\x01\\x7f]]&gt;");
    CHECK(escaped("a\n\tb\r") == "a\n\\x09b\\x0d");
    CHECK(name_html("<b>") == "<bdi>&lt;b&gt;</bdi>");
}

TEST_CASE("what is long is cut in the middle, between characters") {
    CHECK(cut("123456789", 9) == "123456789");
    CHECK(cut("1234567890", 9) == "123456…890");
    CHECK(cut("ääääää", 9) == "äää…ä");
    CHECK(cut(std::string(1'000, '<'), 90).size() == 93);
    CHECK(name_html(std::string(1'000, '<')).size() == 80 * 4 + 3 + 11);
}

TEST_CASE("numbers have groups of three digits") {
    CHECK(grouped(0) == "0");
    CHECK(grouped(999) == "999");
    CHECK(grouped(1'000) == "1,000");
    CHECK(grouped(1'234'567) == "1,234,567");
    CHECK(counted(1, "sample", "samples") == "1 sample");
    CHECK(counted(2'000, "sample", "samples") == "2,000 samples");
}

TEST_CASE("a duration has two units at most") {
    CHECK(duration_text(0s) == "0 s");
    CHECK(duration_text(59s) == "59 s");
    CHECK(duration_text(60s) == "1 min");
    CHECK(duration_text(59min + 59s) == "59 min");
    CHECK(duration_text(60min) == "1 h 0 min");
    CHECK(duration_text(23h + 59min + 59s) == "23 h 59 min");
    CHECK(duration_text(24h) == "1 d 0 h");
    CHECK(duration_text(24h * 400 + 5h) == "400 d 5 h");
}

TEST_CASE("a moment is a time of the day that has a date for who asks") {
    CHECK(moment_html(std::chrono::sys_days{std::chrono::year{2026} / 1 / 2} + 10h + 4min + 5s) ==
          "<time datetime=\"2026-01-02T10:04:05Z\" title=\"2026-01-02T10:04:05Z\">10:04 UTC</time>");
}
