#include "config/checks.hpp"

#include "config/loading.hpp"
#include "support/catch.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;

namespace doubts_test {
namespace {

const std::string below = "is below maxHourlySeries, so the limit of the hour never refuses anything";
const std::string above = "is above the global max";
const std::string never = "Series, so it never refuses anything";

}  // namespace

TEST_CASE("markers without a store are doubtful") {
    CHECK(warnings_of("marker: true\n") ==
          lines{"c.yaml:1: warning: marker: is not used: with 'discard:' nothing is forwarded"});
    CHECK(warnings_of("marker: false\n") == lines{});
    CHECK(warnings_of("marker: true\n", {{"upstream.url", "http://store/w"}}) == lines{});
}

TEST_CASE("an answer of 400 that nobody has chosen is doubtful, for what vmagent makes of it") {
    const std::string why =
        "is told with 400 as long as rejectStatus is not set: a vmagent that gets it sends that request again, and "
        "then "
        "snappy in place of zstd until its restart; 409 does neither";
    CHECK(warnings_of("onLimit: reject\n") == lines{"c.yaml:1: warning: onLimit: " + why});
    CHECK(warnings_of("onLimit: drop\ntenants: {onLimit: reject}\n") ==
          lines{"c.yaml:2: warning: tenants.onLimit: " + why});
    CHECK(warnings_of("limits: [{name: a, each: [b], maxHourlySeries: 1, onLimit: reject}]\n") ==
          lines{"c.yaml:1: warning: limits: " + why});
    CHECK(warnings_of("tenants: {overrides: {a: {onLimit: reject}}}\n") ==
          lines{"c.yaml:1: warning: tenants.overrides: " + why});
    for (const auto* chosen : {"400", "409", "429"})
        CHECK(warnings_of("onLimit: reject\nrejectStatus: " + std::string{chosen} + "\n") == lines{});
    CHECK(warnings_of("onLimit: reject\ntenants: {onLimit: drop}\n") == lines{});
}

TEST_CASE("tenants in the path that the store's URL does not have are doubtful") {
    const std::string text = "tenants: {path: '/insert/{account}/prometheus/api/v1/write'}\n";
    const auto told = [&](const std::string& url) { return warnings_of(text, {{"upstream.url", url}}); };
    CHECK(told("http://vminsert:8480/insert/0/prometheus/api/v1/write") ==
          lines{"c.yaml:1: warning: tenants.path: names tenants, and upstream.url has one of its own for all of them: "
                "write {account} in its place"});
    CHECK(told("http://vminsert:8480/insert/{account}/prometheus/api/v1/write") == lines{});
    CHECK(told("http://mimir:9009/api/v1/push") == lines{});
    CHECK(errors_of("marker: true\n", {{"upstream.url", "http://vminsert:8480/insert/{account}/w"}}) ==
          lines{"c.yaml:1: marker: is not possible with {tenant} or {account} in the URL of a store"});
}

TEST_CASE("a limit of the day below that of the hour is doubted wherever it stands") {
    CHECK(warnings_of("maxHourlySeries: 10\nmaxDailySeries: 9\n") ==
          lines{"c.yaml:2: warning: maxDailySeries: " + below});
    CHECK(warnings_of("tenants: {default: {maxHourlySeries: 10, maxDailySeries: 9}}\n") ==
          lines{"c.yaml:1: warning: tenants.default.maxDailySeries: " + below});
    CHECK(warnings_of("tenants:\n  default: {maxDailySeries: 9}\n  overrides:\n    a: {maxHourlySeries: 10}\n") ==
          lines{"c.yaml:4: warning: tenants.overrides.a.maxHourlySeries: "
                "is above maxDailySeries, so it never refuses anything"});
    CHECK(warnings_of("tenants:\n  overrides:\n    a:\n      maxDailySeries: 9\n      maxHourlySeries: 10\n") ==
          lines{"c.yaml:4: warning: tenants.overrides.a.maxDailySeries: " + below});
    CHECK(warnings_of("limits:\n- name: a\n  each: [b]\n  maxHourlySeries: 10\n  maxDailySeries: 9\n  overrides:\n"
                      "  - {group: {b: c}, maxDailySeries: 8}\n  - {group: {b: d}}\n") ==
          lines{"c.yaml:5: warning: limits[0].maxDailySeries: " + below,
                "c.yaml:7: warning: limits[0].overrides[0].maxDailySeries: " + below});
}

TEST_CASE("limits of flags are doubted, too") {
    overrides flags = discard;
    flags.push_back({"maxDailySeries", "9"});
    CHECK(warnings_of("maxHourlySeries: 10\nmaxDailySeries: 20\n", flags) ==
          lines{"--maxDailySeries: warning: " + below});
}

TEST_CASE("a limit above the global one is doubted") {
    CHECK(warnings_of("maxHourlySeries: 10\ntenants: {default: {maxHourlySeries: 11}}\n") ==
          lines{"c.yaml:2: warning: tenants.default.maxHourlySeries: " + above + "Hourly" + never});
    CHECK(warnings_of("maxDailySeries: 10\ntenants: {overrides: {a: {maxDailySeries: 11}}}\n") ==
          lines{"c.yaml:2: warning: tenants.overrides.a.maxDailySeries: " + above + "Daily" + never});
    CHECK(warnings_of("maxHourlySeries: 10\nlimits:\n- name: a\n  each: [b]\n  maxHourlySeries: 11\n  overrides:\n"
                      "  - {group: {b: c}, maxHourlySeries: 12}\n  - {group: {b: d}}\n") ==
          lines{"c.yaml:5: warning: limits[0].maxHourlySeries: " + above + "Hourly" + never,
                "c.yaml:7: warning: limits[0].overrides[0].maxHourlySeries: " + above + "Hourly" + never});
}

TEST_CASE("limits that fit each other are not doubted") {
    CHECK(warnings_of("maxHourlySeries: 10\nmaxDailySeries: 10\n"
                      "tenants: {default: {maxHourlySeries: 10}, overrides: {a: {maxDailySeries: 0}}}\n"
                      "limits:\n- {name: a, maxHourlySeries: 9, maxDailySeries: 10, match: 'up{a=\"b\",a!=\"c\"}'}\n"
                      "exempt: [up, '{__name__=~\"up|ALERTS.*\"}', '{__name__!=\"\",job=\"\"}']\n"
                      "ignoreLabels: [replica]\n") == lines{});
    CHECK(warnings_of("maxDailySeries: 10\n") == lines{});
    CHECK(warnings_of("maxHourlySeries: 10\ntenants: {default: {maxHourlySeries: 0}}\n") == lines{});
}

TEST_CASE("selectors of nothing and of everything are doubted") {
    const std::string nothing = "matches no series: two of its conditions exclude each other";
    CHECK(warnings_of("limits:\n- name: a\n  match: '{a=\"b\",a=\"c\"}'\n") ==
          lines{"c.yaml:3: warning: limits[0].match: " + nothing});
    CHECK(warnings_of("limits:\n- name: a\n  match: '{a=\"b\",a=~\"c.*\"}'\n") ==
          lines{"c.yaml:3: warning: limits[0].match: " + nothing});
    CHECK(warnings_of("exempt: [up, 'up{a=\"b\",a=\"c\"}']\n") == lines{"c.yaml:1: warning: exempt[1]: " + nothing});
    const std::string everything = "matches every series or nearly, and what is exempt has no limit";
    for (const std::string text : {"{__name__=~\".+\"}", "{__name__!=\"\"}", "{__name__=~\".+\",env!=\"dev\"}"}) {
        CAPTURE(text);
        CHECK(warnings_of("exempt: ['" + text + "']\n") == lines{"c.yaml:1: warning: exempt[0]: " + everything});
    }
}

TEST_CASE("what a limit matches and is exempt is doubted") {
    CHECK(warnings_of("limits:\n- {name: a, match: up}\n- {name: b, match: '{a=\"b\",c=\"d\"}'}\n"
                      "exempt: ['{c=\"d\",a=\"b\"}']\n") ==
          lines{"c.yaml:4: warning: exempt[0]: is what limits[1] matches, which therefore never refuses anything"});
}

TEST_CASE("names that do not count are doubted") {
    CHECK(warnings_of("ignoreLabels: [__name__]\n") ==
          lines{"c.yaml:1: warning: ignoreLabels: without the name, series of all metrics that have the same labels "
                "count as one"});
}

TEST_CASE("a configuration with errors is not doubted") {
    CHECK(load_config_text("maxHourlySeries: 10\nmaxDailySeries: 9\nmode: x\n", "c.yaml", discard).warnings.empty());
}

TEST_CASE("limits that go by an ignored label are errors") {
    const std::string why = "'r' is one of ignoreLabels, which do not tell series apart";
    CHECK(errors_of(
              "ignoreLabels: [r]\nlimits:\n- {name: a, each: [b, r], match: '{r=~\".+\"}'}\nexempt: ['{r=\"x\"}']\n") ==
          lines{"c.yaml:3: limits[0].match: " + why, "c.yaml:3: limits[0].each[1]: " + why,
                "c.yaml:4: exempt[0]: " + why});
    CHECK(errors_of("ignoreLabels: [s]\nlimits:\n- {name: a, each: [r], match: '{r=~\".+\"}'}\n") == lines{});
}

}  // namespace doubts_test
