// Errors show examples, and editors and documents do: each is right where it stands.

#include "config/keys.hpp"
#include "config/loading.hpp"
#include "support/catch.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;

namespace examples_test {
namespace {

/// Of gates that share.
constexpr std::string_view secret = "fingerprint: {secretFile: /secret}\n";

/// The example within its section or list, and what has to stand beside it.
std::string in_its_place(std::string_view key, const std::string& text) {
    if (key == "upstream.replicateTo[2]") return "upstream:\n  replicateTo:\n  " + text + "\n";
    if (key == "limits[2]") return "limits:\n" + text + "\n";
    if (key == "limits[2].name") return "limits: [{" + text + "}]\n";
    if (key == "limits[2].each") return "limits: [{name: a, " + text + "}]\n";
    if (key == "limits[2].overrides") return "limits: [{name: a, each: [job], " + text + "}]\n";
    if (key == "limits[2].overrides[0]") return "limits:\n- name: a\n  each: [job]\n  overrides:\n  " + text + "\n";
    if (key == "limits[2].overrides[0].group") return "limits: [{name: a, each: [job], overrides: [{" + text + "}]}]\n";
    if (key.starts_with("tenants.overrides.")) return "tenants: {overrides: {" + text + "}}\n";
    if (key.starts_with("shared.sentinel"))
        return "shared: {sentinel: {master: mymaster, addresses: [a]}}\n" + std::string{secret};
    std::string made = text;
    std::string_view section = key;
    for (auto dot = section.rfind('.'); dot != std::string_view::npos; dot = section.rfind('.')) {
        section = section.substr(0, dot);
        made = std::string{section.substr(section.rfind('.') + 1)} + ": {" + made + "}";
    }
    return made + "\n" + std::string{key.starts_with("shared") ? secret : ""};
}

}  // namespace

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

}  // namespace examples_test
