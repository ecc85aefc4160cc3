#include "config/keys.hpp"

#include "config/effective.hpp"
#include "config/loading.hpp"
#include "config/other_values.hpp"
#include "support/catch.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;

namespace {

config with(std::string_view name) {
    const auto flags = is_upstream(name) ? overrides{} : discard;
    return loaded(yaml_of_other(name), flags);
}

}  // namespace

TEST_CASE("every key says whether a reload takes its value over: one that it does not is named") {
    const config defaults = loaded("");
    for (const config_key& key : config_keys()) {
        CAPTURE(key.about.name);
        REQUIRE(other_values.contains(key.about.name));
        const config changed = with(key.about.name);
        CHECK_FALSE(changed == defaults);
        CHECK_FALSE(key.same(defaults, changed));
        CHECK(key.same(changed, with(key.about.name)));

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
        CAPTURE(key.about.name);
        lines told = changes(defaults, with(key.about.name), key.effect);
        // What has to go with it: one of the two says where the store is, and a name needs a password.
        if (key.about.name == "upstream.urls") {
            CHECK(told.at(0) == "upstream.url");
            told = {told.at(1)};
        }
        for (const std::string_view other : needed_beside(key.about.name))
            CHECK(std::erase_if(told, [&](const std::string& line) { return line.starts_with(other); }) == 1);
        REQUIRE(told.size() == 1);
        const std::string name = key.same_as.empty() ? key.about.name : key.same_as;
        CHECK((told[0] == name || told[0].starts_with(name + " ")));
    }
}

TEST_CASE("every key reads one value, or lists and maps") {
    for (const config_key& key : config_keys()) {
        CAPTURE(key.about.name);
        CHECK((key.assign == nullptr) == (key.about.type.form != value_form::scalar));
        if (!key.flag.empty()) CHECK(key.assign != nullptr);
        CHECK_FALSE(key.about.help.empty());
    }
}
