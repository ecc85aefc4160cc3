#include "config/shapes.hpp"

#include <string>
#include <string_view>

#include "config/keys.hpp"
#include "config/loading.hpp"
#include "support/catch.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;

namespace shapes_test {
namespace {

/// Of gates that share.
constexpr std::string_view secret = "fingerprint: {secretFile: /secret}\n";

/// The example within its section or list, and what has to stand beside it.
std::string in_its_place(std::string_view key, std::string_view example) {
    const std::string text{example};
    if (key == "upstream.replicateTo[2]") return "upstream:\n  replicateTo:\n  " + text + "\n";
    if (key.starts_with("upstream.replicateTo[2]."))
        return "upstream: {replicateTo: [{url: \"http://a/b\", " + text + "}]}\n";
    if (key == "limits[2]") return "limits:\n" + text + "\n";
    if (key == "limits[2].name") return "limits: [{" + text + "}]\n";
    if (key == "limits[2].each") return "limits: [{name: a, " + text + "}]\n";
    if (key == "limits[2].overrides") return "limits: [{name: a, each: [job], " + text + "}]\n";
    if (key == "limits[2].overrides[0]") return "limits:\n- name: a\n  each: [job]\n  overrides:\n  " + text + "\n";
    if (key == "limits[2].overrides[0].group") return "limits: [{name: a, each: [job], overrides: [{" + text + "}]}]\n";
    if (key.starts_with("tenants.overrides.")) return "tenants: {overrides: {" + text + "}}\n";
    if (key == "shared.sentinel.addresses")
        return "shared: {sentinel: {master: mymaster, " + text + "}}\n" + std::string{secret};
    const auto dot = key.find('.');
    const std::string beside{key.starts_with("shared") ? secret : ""};
    return (dot == std::string_view::npos ? text + "\n" : std::string{key.substr(0, dot)} + ":\n  " + text + "\n") +
           beside;
}

}  // namespace

TEST_CASE("every section, list and map has an example, and each is right where it stands") {
    std::vector<std::string> keys{"upstream.replicateTo[2]",
                                  "upstream.replicateTo[2].tls",
                                  "limits[2]",
                                  "limits[2].name",
                                  "limits[2].each",
                                  "limits[2].overrides",
                                  "limits[2].overrides[0]",
                                  "limits[2].overrides[0].group",
                                  "tenants.overrides.a.b"};
    for (const config_key& key : config_keys()) {
        if (key.access.read != nullptr) keys.emplace_back(key.name);
        for (auto dot = key.name.find('.'); dot != std::string_view::npos; dot = key.name.find('.', dot + 1))
            keys.emplace_back(key.name.substr(0, dot));
    }
    for (const std::string& key : keys) {
        const auto example = shape_of(key);
        CAPTURE(key, example);
        CHECK_FALSE(example.empty());
        CHECK(errors_of(in_its_place(key, example),
                        key == "upstream" || key == "upstream.url" || key == "upstream.urls" ? overrides{} : discard) ==
              lines{});
    }
}

TEST_CASE("the examples of single values are right") {
    for (const std::string_view key : {"listen", "maxHourlySeries", "maxDailySeries", "incumbentGrace"})
        CHECK(errors_of(std::string{shape_of(key)} + "\n") == lines{});
    CHECK(shape_of("limits[1].overrides[3].maxHourlySeries") == "maxHourlySeries: 1000000");
    CHECK(shape_of("tenants.overrides.team.a.maxDailySeries") == "maxDailySeries: 5000000");
    CHECK(shape_of("server.threads").empty());
    CHECK(shape_of("").empty());
}

TEST_CASE("who wrote another kind of value is shown an example") {
    const auto outcome = load_config_text("limits: {a: {maxHourlySeries: 1}}\n", "c.yaml", discard);
    REQUIRE(outcome.errors.size() == 1);
    CHECK(outcome.errors[0].text() ==
          "c.yaml:1: limits: expected a list, got keys and values; for example: limits: "
          "[{name: per-job, each: [job], maxHourlySeries: 20000}]");
}

}  // namespace shapes_test
