#include "config/habits.hpp"

#include <string>
#include <string_view>

#include "config/command_line.hpp"
#include "config/loading.hpp"
#include "support/catch.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;

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
