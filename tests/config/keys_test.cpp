#include "config/keys.hpp"

#include <string>
#include <string_view>
#include <vector>

#include "config/effective.hpp"
#include "config/loading.hpp"
#include "config/other_values.hpp"
#include "support/catch.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;

namespace {

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
