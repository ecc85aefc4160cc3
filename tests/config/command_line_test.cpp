#include "config/command_line.hpp"

#include "config/keys.hpp"
#include "config/version.hpp"
#include "support/catch.hpp"

using namespace seriesgate;

namespace {

command_line parsed(const std::vector<const char*>& arguments) {
    std::vector<const char*> argv{"seriesgate"};
    argv.insert(argv.end(), arguments.begin(), arguments.end());
    return parse_command_line(static_cast<int>(argv.size()), argv.data());
}

// The error, after checking that it is one line.
std::string error_of(const std::vector<const char*>& arguments) {
    const auto result = parsed(arguments);
    CHECK(result.print.empty());
    CHECK(std::ranges::count(result.error, '\n') == 0);
    return result.error;
}

}  // namespace

TEST_CASE("no arguments say nothing") {
    const auto result = parsed({});
    CHECK(result.error.empty());
    CHECK(result.print.empty());
    CHECK_FALSE(result.config_file);
    CHECK(result.flags.empty());
    CHECK_FALSE(result.check_config);
    CHECK_FALSE(result.health_check);
}

TEST_CASE("flags are collected as text under their keys") {
    const auto result = parsed({"--config.file=a.yaml", "--listen=:9201", "--upstream.url", "http://a/w",
                                "--maxHourlySeries=x", "--maxDailySeries=2", "--check-config"});
    CHECK(result.error.empty());
    CHECK(result.config_file == "a.yaml");
    CHECK(result.check_config);
    std::string flags;
    for (const auto& [key, value] : result.flags) flags += key + "=" + value + "\n";
    CHECK(flags == "listen=:9201\nupstream.url=http://a/w\nmaxHourlySeries=x\nmaxDailySeries=2\n");
}

TEST_CASE("a number below zero is the value of the flag before it") {
    const auto result = parsed({"--maxHourlySeries", "-100", "--maxDailySeries=5"});
    CHECK(result.error.empty());
    REQUIRE(result.flags.size() == 2);
    CHECK(result.flags[0].value == "-100");
    CHECK(error_of({"--maxHourlySerie", "-100"}) == "--maxHourlySerie: unknown flag, did you mean --maxHourlySeries?");
    CHECK(error_of({"--maxHourlySeries=1", "-100"}) == "-100: unknown flag, see --help");
    CHECK(error_of({"-100"}) == "-100: unknown flag, see --help");
}

TEST_CASE("every key that may be a flag is one, and no other") {
    for (const config_key& key : config_keys()) {
        CAPTURE(key.about.name);
        const std::string argument = "--" + std::string{key.about.name} + "=1";
        const auto result = parsed({argument.c_str()});
        if (key.flag.empty()) {
            CHECK(result.error.starts_with("--" + std::string{key.about.name} + ": unknown flag"));
        } else {
            CHECK(result.error.empty());
            REQUIRE(result.flags.size() == 1);
            CHECK(result.flags.front().key == key.about.name);
        }
    }
}

TEST_CASE("the flag --help prints every flag") {
    const auto result = parsed({"--help"});
    CHECK(result.error.empty());
    CHECK(result.print.ends_with('\n'));
    for (const std::string flag : {"--config.file", "--listen", "--upstream.url", "--maxHourlySeries",
                                   "--maxDailySeries", "--check-config", "--health-check", "--version", "--help"}) {
        CAPTURE(flag);
        CHECK(result.print.find(flag + " ") != std::string::npos);
    }
    CHECK(parsed({"-h"}).print == result.print);
}

TEST_CASE("the flag --version prints name and version") {
    CHECK(parsed({"--version"}).print == "seriesgate " + std::string{version()} + "\n");
    CHECK_FALSE(version().empty());
}

TEST_CASE("an unknown argument is one clear line") {
    CHECK(error_of({"--lisen=:1"}) == "--lisen: unknown flag, did you mean --listen?");
    CHECK(error_of({"--max-hourly-series", "5"}) ==
          "--max-hourly-series: unknown flag, did you mean --maxHourlySeries?");
    CHECK(error_of({"--frobnicate"}) == "--frobnicate: unknown flag, see --help");
    CHECK(error_of({"-x"}) == "-x: unknown flag, see --help");
    CHECK(error_of({"a.yaml"}) == "'a.yaml': unexpected argument, see --help");
    CHECK(error_of({"--a\nb"}) == "--a?b: unknown flag, see --help");
    CHECK(error_of({""}) == "'': unexpected argument, see --help");
}

TEST_CASE("a flag without its value or given twice is one clear line") {
    for (const char* flag : {"--listen", "--config.file", "--maxHourlySeries"}) {
        CHECK(error_of({flag}) == std::string{flag} + ": has no value");
        CHECK(error_of({(std::string{flag} + "=").c_str()}) == std::string{flag} + ": has no value");
        CHECK(error_of({flag, "1", flag, "2"}) == std::string{flag} + ": is given twice");
    }
    CHECK_FALSE(error_of({"--check-config=maybe"}).empty());
}

TEST_CASE("the question about health has a URL or the usual one, and no other flag") {
    CHECK(parsed({"--health-check"}).health_check == "");
    CHECK(parsed({"--health-check=http://a:1"}).health_check == "http://a:1");
    CHECK(parsed({"--health-check", "http://a:1"}).health_check == "http://a:1");
    CHECK(parsed({"--health-check"}).error.empty());
    CHECK(error_of({"--health-check", "--listen=:1"}) == "--health-check: not with --listen");
    CHECK(error_of({"--config.file=a", "--health-check=http://a:1"}) == "--health-check: not with --config.file");
    CHECK(error_of({"--health-check", "--check-config"}) == "--health-check: not with --check-config");
    CHECK(error_of({"--health-check", "--takeover"}) == "--health-check: not with --takeover");
    CHECK(error_of({"--health-check=a", "--health-check=b"}) == "--health-check: is given twice");
    CHECK(error_of({"--healthcheck"}) == "--healthcheck: unknown flag, did you mean --health-check?");
}
