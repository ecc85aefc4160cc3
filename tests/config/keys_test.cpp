#include "config/keys.hpp"

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "config/effective.hpp"
#include "config/loading.hpp"
#include "support/catch.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;

namespace {

/// For every key a value that is not its default, as it stands behind the colon.
const std::map<std::string_view, std::string> other_values{
    {"listen", "127.0.0.1:9999"},
    {"upstream.url", "http://other:1/write"},
    {"upstream.timeout", "1s"},
    {"upstream.protocol", "v1"},
    {"upstream.hostHeader", "sender"},
    {"upstream.forwardQuery", "[extra_label]"},
    {"maxHourlySeries", "1"},
    {"maxDailySeries", "1"},
    {"falsePositiveRate", "0.1"},
    {"ignoreLabels", "[replica]"},
    {"fingerprint.secretFile", "/secret"},
    {"incumbentGrace", "1m"},
    {"mode", "observe"},
    {"onLimit", "reject"},
    {"rejectStatus", "429"},
    {"tenants.header", "X-Other"},
    {"tenants.mode", "observe"},
    {"tenants.onLimit", "reject"},
    {"tenants.default.maxHourlySeries", "1"},
    {"tenants.default.maxDailySeries", "1"},
    {"tenants.overrides", "{a: {maxHourlySeries: 1}}"},
    {"tenants.maxTenants", "1"},
    {"limits", "[{name: a, maxHourlySeries: 1}]"},
    {"exempt", "[up]"},
    {"wholeHistograms", "true"},
    {"state.dir", "/state"},
    {"state.interval", "1s"},
    {"log.format", "json"},
    {"log.level", "warn"},
    {"server.maxRequestBytes", "1MiB"},
    {"server.maxDecodedBytes", "64MiB"},
    {"server.maxInflightBytes", "1GiB"},
    {"server.maxConnections", "1"},
    {"server.maxConnectionsPerPeer", "1"},
    {"server.threads", "1"},
    {"server.readTimeout", "1s"},
    {"server.idleTimeout", "1s"},
    {"server.drainTimeout", "1s"},
};

/// `a.b` and `x` as `a: {b: x}`.
std::string yaml_of(std::string_view name, const std::string& value) {
    std::string text;
    std::string braces;
    for (auto dot = name.find('.'); dot != std::string_view::npos; dot = name.find('.')) {
        text.append(name.substr(0, dot)).append(": {");
        braces += '}';
        name.remove_prefix(dot + 1);
    }
    return text.append(name).append(": ").append(value).append(braces).append("\n");
}

config with(std::string_view name) {
    const auto flags = name == "upstream.url" ? overrides{} : discard;
    return loaded(yaml_of(name, other_values.at(name)), flags);
}

}  // namespace

TEST_CASE("every key says whether a reload takes its value over: one that it does not is named") {
    const config defaults = loaded("");
    for (const config_key& key : config_keys()) {
        CAPTURE(key.name);
        REQUIRE(other_values.contains(key.name));
        const config changed = with(key.name);
        CHECK_FALSE(changed == defaults);
        CHECK_FALSE(key.access.same(defaults, changed));
        CHECK(key.access.same(changed, with(key.name)));

        // What a reload takes over is the rules and the log, and nothing else.
        const bool at_reload = changed.rules != defaults.rules || changed.log != defaults.log;
        CHECK(at_reload == (key.effect == key_effect::at_reload));
        config apart = changed;
        apart.rules = defaults.rules;
        apart.log = defaults.log;
        CHECK((apart != defaults) == (key.effect == key_effect::at_restart));

        const auto other = key.effect == key_effect::at_reload ? key_effect::at_restart : key_effect::at_reload;
        CHECK(changes(defaults, changed, other).empty());
        CHECK_FALSE(changes(defaults, changed, key.effect).empty());
    }
    CHECK(other_values.size() == config_keys().size());
}

TEST_CASE("a change of one key is told once, and of no other key") {
    const config defaults = loaded("");
    for (const config_key& key : config_keys()) {
        CAPTURE(key.name);
        const lines told = changes(defaults, with(key.name), key.effect);
        REQUIRE(told.size() == 1);
        const auto end = told[0].find_first_of(" :[");
        CHECK(told[0].substr(0, end) == (key.same_as.empty() ? key.name : key.same_as));
    }
}

TEST_CASE("every key reads one value, or lists and maps") {
    for (const config_key& key : config_keys()) {
        CAPTURE(key.name);
        CHECK((key.access.assign == nullptr) != (key.access.read == nullptr));
        if (!key.flag.value.empty()) CHECK(key.access.assign != nullptr);
        CHECK(key.flag.value.empty() == key.flag.help.empty());
    }
}
