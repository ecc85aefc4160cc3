// Errors show examples, and editors and documents do: each is right where it stands.
#include "config/keys.hpp"

#include "config/effective.hpp"
#include "config/load.hpp"
#include "config/loading.hpp"
#include "config/other_values.hpp"
#include "config/yaml.hpp"
#include "support/catch.hpp"
#include "support/files.hpp"
#include "support/source_tree.hpp"

namespace seriesgate::testing::keys_test {
namespace {

config with(std::string_view name) {
    const auto flags = is_upstream(name) ? overrides{} : discard;
    return loaded(yaml_of_other(name), flags);
}

/// Of gates that share.
constexpr std::string_view secret = "fingerprint: {secretFile: /secret}\n";

/// The example within its section or list, and what has to stand beside it.
std::string in_its_place(std::string_view key, const std::string& text) {
    if (key == "upstream.replicateTo[2]") return "upstream:\n  replicateTo:\n  " + text + "\n";
    if (key == "maxActiveSeries") return "seriesSet: exact\n" + text + "\n";
    if (key == "limits[2]") return "limits:\n" + text + "\n";
    if (key == "limits[2].name") return "limits: [{" + text + "}]\n";
    if (key == "limits[2].each") return "limits: [{name: a, " + text + "}]\n";
    if (key == "limits[2].overrides") return "limits: [{name: a, each: [job], " + text + "}]\n";
    if (key == "limits[2].overrides[0]") return "limits:\n- name: a\n  each: [job]\n  overrides:\n  " + text + "\n";
    if (key == "limits[2].overrides[0].group") return "limits: [{name: a, each: [job], overrides: [{" + text + "}]}]\n";
    if (key.starts_with("tenants.overrides.")) return "tenants: {overrides: {" + text + "}}\n";
    if (key.starts_with("shared.sentinel"))
        return "shared: {sentinel: {master: mymaster, addresses: [a]}}\n" + std::string{secret};
    const auto dot = key.rfind('.');
    const std::string made = dot == key.npos ? text + "\n" : yaml_of({{key.substr(0, dot), "{" + text + "}"}});
    return made + std::string{key.starts_with("shared") ? secret : ""};
}

// Where a key with its value stands in the example, after the section that it stands below; npos if it does not. A '#'
// may stand before it.
std::size_t find_key(const std::string& example, std::string_view key) {
    std::size_t at = 0;
    std::string indent = "\n";
    for (auto dot = key.find('.'); dot != std::string_view::npos; dot = key.find('.')) {
        at = example.find(indent + std::string{key.substr(0, dot)} + ":\n", at);
        key.remove_prefix(dot + 1);
        indent += "  ";
    }
    const std::string text = indent.substr(1) + std::string{key} + ": ";
    const auto found = example.find("\n" + text, at);
    return found != std::string::npos ? found : example.find("\n#" + text, at);
}

// The example with another value of a key, whose '#' goes if it has one.
std::string with_value(std::string example, std::string_view key, const std::string& value) {
    const auto begin = find_key(example, key) + 1;
    const auto end = example.find('\n', begin);
    std::string line = example.substr(begin, end - begin);
    if (line.starts_with('#')) line.erase(0, 1);
    line.resize(line.find(':') + 1);
    example.replace(begin, end - begin, line + " " + value);
    if (key == "upstream.urls") {  // which stands in place of the other
        const auto url = find_key(example, "upstream.url") + 1;
        example.erase(url, example.find('\n', url) + 1 - url);
    }
    return example;
}

overrides url_unless_changed(std::string_view key) {
    return is_upstream(key) ? overrides{} : overrides{{"upstream.url", "http://127.0.0.1:8428/api/v1/write"}};
}

TEST_CASE("every key says whether a reload takes its value over: one that it does not is named") {
    const config defaults = loaded("");
    for (const config_key& key : config_keys()) {
        CAPTURE(key.about.name);
        REQUIRE(possible_values().contains(key.about.name));
        config changed = with(key.about.name);
        CHECK_FALSE(changed == defaults);
        CHECK_FALSE(key.same(defaults, changed));
        CHECK(key.same(changed, with(key.about.name)));
        for (const std::string_view beside : needed_beside(key.about.name))
            if (beside == "seriesSet") changed.series_set = defaults.series_set;

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
    CHECK(possible_values().size() == config_keys().size());
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
            CHECK(std::erase_if(told, [&](const std::string& line) { return line.starts_with(other); }) ==
                  (other == "seriesSet" && key.effect == key_effect::at_reload ? 0
                                                                               : 1));  // that one is told at a restart
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

TEST_CASE("every list is one, with as many items as the reference tells, and none twice where it tells that") {
    for (const config_key& key : config_keys()) {
        const std::string& name = key.about.name;
        const std::string& bounds = key.about.type.bounds;
        if (key.about.type.form != value_form::list) continue;
        CAPTURE(name);
        const auto has_error = [&](const std::string& value, const std::string& what) {
            const lines told = errors_of(yaml_of({{name, value}}), is_upstream(name) ? overrides{} : discard);
            const auto is_it = [&](const std::string& line) { return line.find(": " + name + what) != line.npos; };
            return std::ranges::any_of(told, is_it);
        };
        CHECK(has_error("a", ": expected a list, got "));
        CHECK(has_error("{a: b}", ": expected a list, got keys and values"));
        const auto many = [item = yaml_line(YAML::Load(other_value(name))[0]) + ", "](std::size_t count) {
            std::string list;
            while (count-- > 0) list += item;
            return "[" + list + "]";
        };
        const std::size_t most = std::stoul(bounds.substr(bounds.find_first_of("123456789")));
        CHECK(has_error(many(most + 1), ": has " + std::to_string(most + 1) + " items, at most " +
                                            std::to_string(most) + " are possible"));
        CHECK_FALSE(has_error(many(most), ": has "));
        CHECK(has_error(many(2), "[1]: is there already, as " + name + "[0]") ==
              (bounds.find(", each once") != bounds.npos));
    }
}

TEST_CASE("every section, list and map has an example, and each is right where it stands") {
    lines keys{"upstream.replicateTo[2]", "limits[2]",
               "limits[2].name",          "limits[2].each",
               "limits[2].overrides",     "limits[2].overrides[0]",
               "tenants.overrides.a.b",   "limits[2].overrides[0].group"};
    for (const config_key& key : config_keys()) {
        const std::string& name = key.about.name;
        if (!key.about.example.empty() || key.about.type.form != value_form::scalar) keys.push_back(name);
        for (auto dot = name.find('.'); dot != std::string::npos; dot = name.find('.', dot + 1))
            keys.push_back(name.substr(0, dot));
    }
    for (const std::string& key : keys) {
        const std::string example = example_of(key);
        CAPTURE(key, example);
        CHECK_FALSE(example.empty());
        const bool is_url = key == "upstream" || key == "upstream.url" || key == "upstream.urls";
        CHECK(errors_of(in_its_place(key, example), is_url ? overrides{} : discard) == lines{});
    }
    CHECK(example_of("server.maxHandshakes").empty());
    CHECK(example_of("").empty());
}

TEST_CASE("who wrote another kind of value is shown an example") {
    const auto outcome = load_config_text("limits: {a: {maxHourlySeries: 1}}\n", "c.yaml", discard);
    REQUIRE(outcome.errors.size() == 1);
    CHECK(outcome.errors[0].text() ==
          "c.yaml:1: limits: expected a list, got keys and values; for example: limits: "
          "[{name: per-job, each: [job], maxHourlySeries: 20000}]");
}

TEST_CASE("what is made of the keys comes in three forms") {
    for (const std::string_view form : {"markdown", "yaml", "json-schema"}) {
        const std::string text = print_reference(form);
        for (const config_key& key : config_keys()) {
            CAPTURE(form, key.about.name);
            CHECK(text.find(key.about.name.substr(key.about.name.rfind('.') + 1)) != std::string::npos);
        }
    }
    CHECK(print_reference("html").empty());
}

TEST_CASE("the example configuration loads and is the defaults") {
    const std::string path = source_tree() / "config/seriesgate.yaml";
    const auto outcome = load_config(path, {});
    for (const config_error& error : outcome.errors) FAIL_CHECK(error.text());

    const std::string url = "http://127.0.0.1:8428/api/v1/write";
    const config defaults = load_config(std::nullopt, {{"upstream.url", url}}).value;
    CHECK(outcome.value.upstream.store.backends.at(0).url == url);
    CHECK(outcome.value == defaults);
}

TEST_CASE("a value that is changed in the example configuration means what it means alone") {
    const std::string example = read_file(source_tree() / "config/seriesgate.yaml");
    for (const config_key& key : config_keys()) {
        CAPTURE(key.about.name);
        const auto alone =
            load_config_text(yaml_of_other(key.about.name), "alone.yaml", url_unless_changed(key.about.name));
        std::string text = with_value(example, key.about.name, other_value(key.about.name));
        for (const std::string_view beside : needed_beside(key.about.name))
            text = with_value(text, beside, other_value(beside));
        const auto changed = load_config_text(text, "seriesgate.yaml", {});
        for (const config_error& error : changed.errors) FAIL_CHECK(error.text());
        CHECK(changed.value == alone.value);
    }
}

TEST_CASE("every key and every flag is described in docs/configuration.md") {
    const std::string page = read_file(source_tree() / "docs/configuration.md");
    for (const config_key& key : config_keys()) {
        const std::string& name = key.about.name;
        CAPTURE(name);
        CHECK(page.find("| `" + name + "` |") != std::string::npos);
        if (!key.flag.empty()) CHECK(page.find("`--" + name + "=") != std::string::npos);
    }
    for (const std::string flag :
         {"--config.file", "--takeover", "--warm-from", "--check-config", "--health-check", "--version", "--help"}) {
        CAPTURE(flag);
        CHECK(page.find("`" + flag) != std::string::npos);
    }
}

}  // namespace
}  // namespace seriesgate::testing::keys_test
