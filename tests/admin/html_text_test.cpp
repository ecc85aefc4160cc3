#include "admin/formatting.hpp"

#include "support/catch.hpp"

using namespace seriesgate;

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
    CHECK(name_html(std::string(1'000, '<')).size() == 80 * 4 + 3 + 11 + 2 * 5);
}

TEST_CASE("a name may break behind an underscore, and within what is too long") {
    CHECK(name_html("http_requests_total") == "<bdi>http_<wbr>requests_<wbr>total</bdi>");
    CHECK(name_html("_a_") == "<bdi>_<wbr>a_</bdi>");
    CHECK(name_html("__name__<b>") == "<bdi>_<wbr>_<wbr>name_<wbr>_<wbr>&lt;b&gt;</bdi>");
    CHECK(name_html(std::string(40, 'x')) == "<bdi>" + std::string(32, 'x') + "<wbr>" + std::string(8, 'x') + "</bdi>");
    CHECK(name_html(std::string(30, 'x') + " y") == "<bdi>" + std::string(30, 'x') + " y</bdi>");
    std::string wide;
    for (int i = 0; i < 40; ++i) wide += "\xe6\x97\xa5";
    const std::string broken = name_html(wide, 200);
    CHECK(broken.find("<wbr>") == 5 + std::size_t{32} * 3);
}

TEST_CASE("a count has the word that fits") {
    CHECK(counted(1, "sample", "samples") == "1 sample");
    CHECK(counted(2'000, "sample", "samples") == "2,000 samples");
}

TEST_CASE("a moment is a time of the day that has a date for who asks") {
    CHECK(moment_html(std::chrono::sys_days{std::chrono::year{2026} / 1 / 2} + 10h + 4min + 5s) ==
          "<time datetime=\"2026-01-02T10:04:05Z\" title=\"2026-01-02T10:04:05Z\">10:04 UTC</time>");
}
