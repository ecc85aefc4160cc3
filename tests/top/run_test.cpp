#include "top/run.hpp"

#include "support/catch.hpp"

using namespace seriesgate::top;

namespace {

auto parsed(const std::vector<const char*>& arguments) {
    std::vector<const char*> argv{"seriesgate", "top"};
    argv.insert(argv.end(), arguments.begin(), arguments.end());
    CHECK(is_subcommand("top", static_cast<int>(argv.size()), argv.data()));
    return parse_command_line(static_cast<int>(argv.size()), argv.data());
}

std::string error_of(const std::vector<const char*>& arguments) {
    const auto result = parsed(arguments);
    CHECK(result.print.empty());
    CHECK(std::ranges::count(result.error, '\n') == 0);
    return result.error;
}

server_address address_of(const std::string& url) {
    server_address at;
    CHECK(parse_gate_url(url, at).empty());
    return at;
}

}  // namespace

TEST_CASE("without arguments it asks the default address every two seconds") {
    const auto result = parsed({});
    CHECK(result.error.empty());
    CHECK(result.print.empty());
    CHECK(result.asked.url == "http://127.0.0.1:9201");
    CHECK(result.asked.at.host == "127.0.0.1");
    CHECK(result.asked.at.port == 9201);
    CHECK(result.asked.interval == 2s);
    CHECK_FALSE(result.asked.once);
}

TEST_CASE("every flag is taken") {
    const auto asked = parsed({"--url=https://gate:9443/x", "--interval", "500ms", "--once", "--username=ops",
                               "--password-file=p", "--ca-file=c", "--insecure-skip-verify"})
                           .asked;
    CHECK(asked.at.tls);
    CHECK(asked.at.host == "gate");
    CHECK(asked.at.target.reveal() == "/x");
    CHECK(asked.interval == 500ms);
    CHECK(asked.once);
    CHECK(asked.username == "ops");
    CHECK(asked.password_file == "p");
    CHECK(asked.ca_file == "c");
    CHECK(asked.any_server);
    CHECK(parsed({"--bearer-token-file=t"}).asked.bearer_token_file == "t");
}

TEST_CASE("its help prints every flag") {
    const auto result = parsed({"--help"});
    for (const std::string flag : {"--url", "--interval", "--once", "--username", "--password-file",
                                   "--bearer-token-file", "--ca-file", "--insecure-skip-verify", "--help"}) {
        CAPTURE(flag);
        CHECK(result.print.find(flag + " ") != std::string::npos);
    }
}

TEST_CASE("what is wrong with the arguments of top is one clear line") {
    CHECK(error_of({"--ulr=x"}) == "--ulr: unknown flag, did you mean --url?");
    CHECK(error_of({"gate"}) == "'gate': unexpected argument, see top --help");
    CHECK(error_of({"--url"}) == "--url: has no value");
    CHECK(error_of({"--url=a", "--url=b"}) == "--url: is given twice");
    CHECK(error_of({"--url=gate:9201"}) ==
          "--url: is not a URL such as http://127.0.0.1:9201 or unix:/run/seriesgate/gate.sock");
    CHECK(error_of({"--url=http://u:secret@gate"}) ==
          "--url: must not hold credentials; --username and --password-file say them");
    CHECK(error_of({"--interval=2"}) == "--interval: '2' is not a time from 100ms to 1h, such as 2s");
    CHECK(error_of({"--interval=50ms"}) == "--interval: '50ms' is not a time from 100ms to 1h, such as 2s");
    CHECK(error_of({"--interval=2h"}) == "--interval: '2h' is not a time from 100ms to 1h, such as 2s");
    CHECK(error_of({"--username=a"}) == "--username: needs --password-file");
    CHECK(error_of({"--password-file=a"}) == "--password-file: needs --username");
    CHECK(error_of({"--username=a:b", "--password-file=c"}) == "--username: must not hold a colon");
    CHECK(error_of({"--username=a", "--password-file=c", "--bearer-token-file=d"}) ==
          "--bearer-token-file: not with --username");
}

TEST_CASE("a gate is where its URL says") {
    CHECK(address_of("http://gate").port == 80);
    CHECK(address_of("https://gate").port == 443);
    CHECK(address_of("http://[::1]:9201/").host == "::1");
    CHECK(address_of("http://[::1]:9201/").authority == "[::1]:9201");
    CHECK(address_of("http://gate:1/").target.reveal().empty());
    CHECK(address_of("http://gate:1/a/b/").target.reveal() == "/a/b");
    CHECK(address_of("unix:/run/gate.sock").unix_path == "/run/gate.sock");
    server_address at;
    for (const char* wrong : {"", "http://", "ftp://gate", "http://gate?x", "http://gate#x", "http://gate:0",
                              "http://gate:70000", "http://a b", "unix:relative", "discard:"}) {
        CAPTURE(wrong);
        CHECK_FALSE(parse_gate_url(wrong, at).empty());
    }
}

TEST_CASE("every line is put in its place, and the rest of it wiped") {
    frame shown;
    shown.lines.emplace_back("a");
    shown.lines.push_back(line{}.add("b", tone::bad).add("c"));
    shown.lines.emplace_back("");
    CHECK(painted(shown, true) == "\x1b[1;1H\x1b[Ka\x1b[2;1H\x1b[K\x1b[1;31mb\x1b[0mc\x1b[3;1H\x1b[K");
}

TEST_CASE("without colours what matters is bold") {
    frame shown;
    for (const tone each : {tone::plain, tone::faint, tone::good}) shown.lines.emplace_back("a", each);
    CHECK(painted(shown, false) == "\x1b[1;1H\x1b[Ka\x1b[2;1H\x1b[Ka\x1b[3;1H\x1b[Ka");
    shown.lines.clear();
    for (const tone each : {tone::strong, tone::warning, tone::bad}) shown.lines.emplace_back("a", each);
    CHECK(painted(shown, false) ==
          "\x1b[1;1H\x1b[K\x1b[1ma\x1b[0m\x1b[2;1H\x1b[K\x1b[1ma\x1b[0m\x1b[3;1H\x1b[K\x1b[1ma\x1b[0m");
}
