// The command line. What is printed: first_config_test.cpp; with real stores: e2e/test_suggest.py.
#include "suggest/run.hpp"

#include "support/catch.hpp"

using namespace seriesgate::from_store;

namespace {

auto parsed(std::vector<const char*> arguments) {
    arguments.insert(arguments.begin(), {"seriesgate", "suggest"});
    return parse_command_line(static_cast<int>(arguments.size()), arguments.data());
}

}  // namespace

TEST_CASE("the store and the label are taken") {
    const auto made = parsed({"--from=https://store/select/0/prometheus/", "--by=team", "--bearer-token-file=t"});
    CHECK(made.error.empty());
    CHECK(made.asked.at.tls);
    CHECK(made.asked.at.target.reveal() == "/select/0/prometheus");
    CHECK(made.asked.label == "team");
    CHECK(made.asked.bearer_token_file == "t");
    CHECK(made.asked.agent == "seriesgate-suggest");
    CHECK(parsed({"--from", "http://s"}).asked.label.empty());
    CHECK(parsed({"--from", "http://s", "--by", "metric"}).asked.label == "__name__");
    CHECK(parsed({"--help"}).print.find("--from URL ") != std::string::npos);
}

TEST_CASE("what is wrong with the arguments of suggest is one clear line") {
    CHECK(parsed({}).error == "--from: needs the store's URL, such as http://127.0.0.1:9090");
    CHECK(parsed({"--from"}).error == "--from: has no value");
    CHECK(parsed({"--form=x"}).error == "--form: unknown flag, did you mean --from?");
    CHECK(parsed({"x"}).error == "'x': unexpected argument, see suggest --help");
    for (const char* url :
         {"--from=store:9090", "--from=unix:/run/gate.sock", "--from=discard:", "--from=http://s?x"}) {
        CAPTURE(url);
        CHECK(parsed({url}).error == "--from: is not a URL such as http://127.0.0.1:9090");
    }
    CHECK(parsed({"--from=http://u:secret@s"}).error ==
          "--from: must not hold credentials; --username and --password-file say them");
    CHECK(parsed({"--from=http://s", "--username=a"}).error == "--username: needs --password-file");
}
