#include "config/wording.hpp"

#include <array>
#include <string>
#include <string_view>

#include "config/command_line.hpp"
#include "config/habits.hpp"
#include "config/loading.hpp"
#include "support/catch.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;

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

TEST_CASE("other programs' names lead to ours") {
    CHECK(key_for_habit("remoteWrite.maxHourlySeries") == "maxHourlySeries");
    CHECK(key_for_habit("remote_write") == "upstream");
    CHECK(key_for_habit("web.listen-address") == "listen");
    CHECK(key_for_habit("maxHourlySeries").empty());
    CHECK(key_for_habit("").empty());
}

TEST_CASE("other programs' keys and flags are answered with ours") {
    CHECK(errors_of("remoteWrite.url: x\nserver: {max_insert_request_size: 1}\n") ==
          lines{"c.yaml:1: remoteWrite.url: unknown key, did you mean 'upstream.url'?",
                "c.yaml:2: server.max_insert_request_size: unknown key, did you mean 'server.maxRequestBytes'?"});
    const auto error_of = [](const char* flag) {
        const char* const arguments[]{"seriesgate", flag};
        return parse_command_line(2, arguments).error;
    };
    CHECK(error_of("-remoteWrite.maxDailySeries=5") ==
          "-remoteWrite.maxDailySeries: unknown flag, did you mean --maxDailySeries?");
    CHECK(error_of("-maxHourlySeries=5") == "-maxHourlySeries: unknown flag, did you mean --maxHourlySeries?");
    CHECK(error_of("-httpListenAddr=:1") == "-httpListenAddr: unknown flag, did you mean --listen?");
    CHECK(error_of("-dryRun") == "-dryRun: unknown flag, did you mean --check-config?");
    CHECK(error_of("-loggerLevel=WARN") == "-loggerLevel: unknown flag, 'log.level' is a key of the file only");
    CHECK(error_of("--server.threads=4") ==
          "--server.threads: unknown flag, 'server.threads' is a key of the file only");
    CHECK(error_of("--limits=[]") == "--limits: unknown flag, 'limits' is a key of the file only");
    CHECK(error_of("--speed=1") == "--speed: unknown flag, see --help");
    CHECK(error_of("-") == "-: unknown flag, see --help");
}
