#include "config/effective.hpp"
#include "config/keys.hpp"

#include "config/loading.hpp"
#include "config/other_values.hpp"
#include "config/random_config.hpp"
#include "support/cpu_time.hpp"
#include "support/sanitizers.hpp"
#include "support/source_tree.hpp"

namespace seriesgate::testing::effective_test {
namespace {

/// What a reload would take over of it.
lines reloadable(std::string_view before, std::string_view after) {
    return changes(loaded(before), loaded(after), key_effect::at_reload);
}

lines restarting(std::string_view before, std::string_view after) {
    return changes(loaded(before), loaded(after), key_effect::at_restart);
}

TEST_CASE("the effective configuration has every key, in the order and the form of the file") {
    const std::string text =
        effective_yaml(loaded("limits: [{name: a, each: [job], overrides: [{group: {job: x}, maxHourlySeries: 7}]}]\n"
                              "tenants: {overrides: {team-a: {maxDailySeries: 5, onLimit: reject}}}\n"
                              "exempt: ['{a=\"b\"}', up]\n"));
    std::size_t at = 0;
    for (const config_key& key : config_keys()) {
        CAPTURE(key.about.name);
        at = text.find(key.about.name.substr(key.about.name.rfind('.') + 1) + ":", at);
        REQUIRE(at != std::string::npos);
    }
    CHECK(text.starts_with("listen: 0.0.0.0:9201\nadmin:\n  listen: ''\nweb:\n  config: {file: ''}\nupstream:\n"));
    const std::string rules =
        "onLimit: drop\n"
        "rejectStatus: 400\n"
        "tenants:\n"
        "  header: X-Scope-OrgID\n"
        "  path: ''\n"
        "  mode: enforce\n"
        "  onLimit: drop\n"
        "  default: {maxHourlySeries: 0, maxDailySeries: 0, maxActiveSeries: 0}\n"
        "  overrides: {team-a: {maxHourlySeries: 0, maxDailySeries: 5, maxActiveSeries: 0, onLimit: reject}}\n"
        "  maxTenants: 10000\n"
        "limits:\n"
        "  - name: a\n"
        "    each: [job]\n"
        "    maxGroups: 10000\n"
        "    maxHourlySeries: 0\n"
        "    maxDailySeries: 0\n"
        "    maxActiveSeries: 0\n"
        "    mode: enforce\n"
        "    perTenant: false\n"
        "    overrides: [{group: {job: x}, maxHourlySeries: 7, maxDailySeries: 0, maxActiveSeries: 0}]\n"
        "exempt: ['{a=\"b\"}', up]\n"
        "maxExemptSeries: 100000\n";
    CHECK(text.find(rules) != std::string::npos);
}

TEST_CASE("what is shown of a configuration is read as the same configuration") {
    const auto reads_back = [](const config& settings) {
        const std::string text = effective_yaml(settings);
        const load_outcome again = load_config_text(text, "effective.yaml", {});
        for (const config_error& error : again.errors) FAIL_CHECK(error.text());
        const bool same = again.value == settings;
        if (!same) UNSCOPED_INFO(text);
        CHECK(same);
        if (!same)
            for (const config_key& key : config_keys())
                if (!key.same(again.value, settings)) UNSCOPED_INFO(key.about.name);
        return same && again.ok();
    };
    CHECK(reads_back(load_config(source_tree() / "config/seriesgate.yaml", {}).value));
    for (const config_key& key : config_keys()) {
        const std::string& name = key.about.name;
        CAPTURE(name);
        CHECK(reads_back(loaded(yaml_of_other(name), is_upstream(name) ? overrides{} : discard)));
    }
    const config defaults = loaded("");
    std::set<std::string> different;
    std::set<std::pair<std::string, std::size_t>> taken;
    for (std::uint64_t seed = 0; seed < (sanitized ? 300 : 3'000); ++seed) {
        CAPTURE(seed);
        random_config drawn{seed};
        const config random = drawn.make();
        if (!reads_back(random)) break;
        taken.insert(drawn.taken.begin(), drawn.taken.end());
        for (const config_key& key : config_keys())
            if (!key.same(random, defaults)) different.insert(key.about.name);
    }
    CHECK(different.size() == config_keys().size());
    for (const auto& [key, values] : possible_values())
        for (std::size_t i = 0; i < values.size() && !sanitized; ++i) {
            CAPTURE(key, values[i]);
            CHECK(taken.contains({std::string{key}, i}));
        }
}

TEST_CASE("what would be a variable of the environment is shown as none") {
    config settings = loaded("");
    settings.state.dir = "/a${b}$${c}$d";
    settings.rules.tenants.overrides["${e}"] = {};
    const std::string text = effective_yaml(settings);
    CHECK(text.find("\n  dir: '/a$${b}$$${c}$d'\n") != std::string::npos);
    CHECK(text.find("\n  overrides: {'${e}': {") != std::string::npos);
    CHECK(changes(loaded(""), settings, key_effect::at_restart) == lines{"state.dir '' -> '/a${b}$${c}$d'"});
}

TEST_CASE("a changed value is told with what it was and what it is") {
    CHECK(reloadable("", "").empty());
    CHECK(reloadable("maxHourlySeries: 1000000", "maxHourlySeries: 2000000") ==
          lines{"maxHourlySeries 1000000 -> 2000000"});
    CHECK(reloadable("", "{incumbentGrace: 90s, mode: observe, log: {format: json}}") ==
          lines{"incumbentGrace 10m -> 1m30s", "mode enforce -> observe", "log.format logfmt -> json"});
    CHECK(reloadable("", "server: {threads: 3}").empty());
    CHECK(restarting("", "{server: {threads: 3, maxRequestBytes: 1MiB}, maxHourlySeries: 3}") ==
          lines{"server.maxRequestBytes 32MiB -> 1MiB", "server.threads 0 -> 3"});
}

TEST_CASE("lists, maps, secrets and long values are named") {
    CHECK(reloadable("tenants: {overrides: {a: {maxHourlySeries: 1}}}", "tenants: {overrides: {a: {}}}") ==
          lines{"tenants.overrides"});
    CHECK(reloadable("limits: [{name: a}, {name: b}]", "limits: [{name: b}, {name: a}]") == lines{"limits"});
    CHECK(restarting("ignoreLabels: [a, b]", "ignoreLabels: [b, c]") == lines{"ignoreLabels"});
    CHECK(restarting("", "state: {dir: /" + std::string(100, 'x') + "}") == lines{"state.dir"});
    const auto with_url = [](const std::string& url) { return loaded("", {{"upstream.url", url}}); };
    const auto told = [](const config& before, const config& after) {
        return changes(before, after, key_effect::at_restart);
    };
    CHECK(told(with_url("http://a/w?token=1"), with_url("http://a/w?token=2")) == lines{"upstream.url"});
    CHECK(told(with_url("http://a/w?token=1"), with_url("http://b/w?token=1")) ==
          lines{"upstream.url 'http://a/w?<secret>' -> 'http://b/w?<secret>'"});
}

TEST_CASE("what all tenants may have is told apart from what single ones may have") {
    const std::string own = "overrides: {a: {maxHourlySeries: 1, maxDailySeries: 2, onLimit: drop}}";
    const auto told = [&](const std::string& keys) {
        return reloadable("tenants: {" + own + "}", "tenants: {" + own + ", " + keys + "}");
    };
    CHECK(told("default: {maxHourlySeries: 7}") == lines{"tenants.default.maxHourlySeries 0 -> 7"});
    CHECK(told("mode: observe") == lines{"tenants.mode enforce -> observe"});
    CHECK(told("maxTenants: 5") == lines{"tenants.maxTenants 10000 -> 5"});
    CHECK(told("onLimit: reject") == lines{"onLimit drop -> reject"});
    CHECK(reloadable("", "onLimit: reject") == lines{"onLimit drop -> reject"});
}

TEST_CASE("two configurations differ exactly if something is told") {
    for (std::uint64_t seed = 0; seed < 500; ++seed) {
        CAPTURE(seed);
        const config one = random_config{seed}.make();
        const config other = random_config{seed + 10'000}.make();
        CHECK(changes(one, one, key_effect::at_reload).empty());
        CHECK(changes(one, one, key_effect::at_restart).empty());
        const bool rules_differ = one.rules != other.rules || one.log != other.log;
        const lines told = changes(one, other, key_effect::at_reload);
        CHECK(told.empty() != rules_differ);
        for (const std::string& line : told) CHECK(line.find('\n') == std::string::npos);
    }
}

TEST_CASE("a value of nothing but variables takes no longer than any other") {
    config many;
    while (many.state.dir.size() < 1'000'000) many.state.dir += "${";
    std::string text;
    CHECK(cpu_seconds_of([&] { text = effective_yaml(many); }) < 5);
    CHECK(std::ranges::count(text, '$') == 1'000'000);
}

}  // namespace
}  // namespace seriesgate::testing::effective_test
