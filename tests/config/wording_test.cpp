#include "config/config_error.hpp"

#include "support/catch.hpp"

using namespace seriesgate;

namespace {

constexpr std::array<std::string_view, 6> keys{"listen",          "upstream",       "upstream.timeout",
                                               "maxHourlySeries", "maxDailySeries", "server.maxRequestBytes"};

}  // namespace

TEST_CASE("what the user wrote stays on one line and is cut when long") {
    CHECK(in_quotes("abc") == "'abc'");
    CHECK(in_quotes("a\u009bb\u202ec\u00fc\xff") == "'a?b?c\u00fc\xff'");
    CHECK(in_quotes("a\nb\r\tc\x7f\x1b[31m") == "'a?b??c??[31m'");
    CHECK(in_quotes(std::string(80, 'x')) == "'" + std::string(80, 'x') + "'");
    CHECK(in_quotes(std::string(81, 'x')) == "'" + std::string(80, 'x') + "...'");
    CHECK(printable("abcdef", 3) == "abc...");
    CHECK(printable("\xc3\xa4", 80) == "\xc3\xa4");
}

TEST_CASE("the key that was probably meant is found") {
    CHECK(closest("maxHourlySerie", keys) == "maxHourlySeries");
    CHECK(closest("maxHourlySeriess", keys) == "maxHourlySeries");
    CHECK(closest("max_hourly_series", keys) == "maxHourlySeries");
    CHECK(closest("max-daily-series", keys) == "maxDailySeries");
    CHECK(closest("MAXDAILYSERIES", keys) == "maxDailySeries");
    CHECK(closest("lisen", keys) == "listen");
    CHECK(closest("upstraem", keys) == "upstream");
}

TEST_CASE("a key in the wrong section is found by its last part") {
    CHECK(closest("timeout", keys) == "upstream.timeout");
    CHECK(closest("maxRequestBytes", keys) == "server.maxRequestBytes");
    CHECK(closest("server.maxHourlySeries", keys) == "maxHourlySeries");
}

TEST_CASE("no key is proposed when none is near") {
    CHECK(closest("tenants", keys).empty());
    CHECK(closest("", keys).empty());
    CHECK(closest("x", keys).empty());
    CHECK(closest(std::string(100'000, 'l'), keys).empty());
    CHECK(closest("listen", {}).empty());
}
