#include "config/config_node.hpp"

#include "config/loading.hpp"
#include "support/catch.hpp"

namespace seriesgate::testing::environment_test {
namespace {

/// A load with these variables and no others.
load_outcome load_with(const std::map<std::string, std::string>& variables, std::string_view text,
                       const overrides& flags = discard) {
    return load_config_text(text, "c.yaml", flags, [&](const std::string& name) {
        const auto found = variables.find(name);
        return found == variables.end() ? std::nullopt : std::optional<std::string>{found->second};
    });
}

lines errors_with(const std::map<std::string, std::string>& variables, std::string_view text,
                  const overrides& flags = discard) {
    return texts_of(load_with(variables, text, flags).errors);
}

TEST_CASE("variables are filled in in values of every kind") {
    const auto outcome =
        load_with({{"HOST", "store"}, {"PORT", "8428"}, {"N", "2M"}, {"LABEL", "replica"}, {"_x9", "a"}},
                  "upstream: {url: 'http://${HOST}:${PORT}/w'}\n"
                  "maxHourlySeries: ${N}\n"
                  "ignoreLabels: ['${LABEL}', b]\n"
                  "exempt: ['{job=\"${_x9}\"}']\n"
                  "limits:\n- {name: 'l-${_x9}', each: [job], overrides: [{group: {job: '${_x9}'}}]}\n",
                  {});
    REQUIRE(outcome.ok());
    CHECK(outcome.value.upstream.store.backends.at(0).host == "store");
    CHECK(outcome.value.upstream.store.backends.at(0).port == 8428);
    CHECK(outcome.value.rules.global.hourly == 2'000'000);
    CHECK(outcome.value.ignore_labels == std::vector<std::string>{"replica", "b"});
    CHECK(outcome.value.rules.exempt.at(0).to_string() == "{job=\"a\"}");
    CHECK(outcome.value.rules.limits.at(0).name == "l-a");
    CHECK(outcome.value.rules.limits.at(0).overrides.at(0).group == group_labels{{"job", "a"}});
}

TEST_CASE("a variable brings in text and nothing else") {
    const std::map<std::string, std::string> variables{
        {"X", "/a\nmaxHourlySeries: 5"}, {"L", "[a, b]"}, {"V", "${X}"}, {"Q", "'\"#: "}, {"NONE", "null"}};
    CHECK(load_with(variables, "state: {dir: '${X}'}\n").value.state.dir == "/a\nmaxHourlySeries: 5");
    CHECK(load_with(variables, "state: {dir: '${V}'}\n").value.state.dir == "${X}");
    CHECK(load_with(variables, "state:\n  dir: ${Q}\n").value.state.dir == "'\"#: ");
    CHECK(load_with(variables, "state:\n  dir: ${NONE}\n").value.state.dir == "null");
    CHECK(errors_with(variables, "ignoreLabels: ${L}\n") ==
          lines{"c.yaml:1: ignoreLabels: with ${L} filled in: expected a list, got one value; for example: "
                "ignoreLabels: [prometheus_replica]"});
}

TEST_CASE("a dollar that begins no variable stays") {
    const auto dir = [](const std::string& text) {
        return load_with({{"X", "x"}}, "state:\n  dir: " + text + "\n").value.state.dir;
    };
    CHECK(dir("a$") == "a$");
    CHECK(dir("$X") == "$X");
    CHECK(dir("a$$b") == "a$$b");
    CHECK(dir("$${X}") == "${X}");
    CHECK(dir("a$${X}-${X}") == "a${X}-x");
    CHECK(dir("$${") == "${");
    CHECK(load_with({}, "exempt: ['{job=~\"a.*$\"}']\n").value.rules.exempt.at(0).to_string() == "{job=~\"a.*$\"}");
}

TEST_CASE("a variable that is not set is told with its key and its name, and nothing follows from it") {
    CHECK(errors_with({}, "upstream:\n  url: ${URL}\n", {}) ==
          lines{"c.yaml:2: upstream.url: the environment variable 'URL' is not set"});
    CHECK(errors_with({}, "limits:\n- name: ${NAME}\n  each: ['${A}']\n  overrides: [{group: {a: '${B}'}}]\n") ==
          lines{"c.yaml:2: limits[0].name: the environment variable 'NAME' is not set",
                "c.yaml:3: limits[0].each[0]: the environment variable 'A' is not set",
                "c.yaml:4: limits[0].overrides[0].group.a: the environment variable 'B' is not set"});
    CHECK(errors_with({}, "limits: ${L}\nserver: ${S}\ntenants: {overrides: {a: '${T}'}}\n") ==
          lines{"c.yaml:1: limits: the environment variable 'L' is not set",
                "c.yaml:2: server: the environment variable 'S' is not set",
                "c.yaml:3: tenants.overrides.a: the environment variable 'T' is not set"});
    CHECK(errors_with({{"EMPTY", ""}}, "maxHourlySeries: ${EMPTY}\n") ==
          lines{"c.yaml:1: maxHourlySeries: with ${EMPTY} filled in: is not a whole number such as 5000 or 500k; 0 is "
                "no limit"});
}

TEST_CASE("what names no variable is told") {
    for (const std::string text : {"${}", "${9}", "${A B}", "${A:-b}", "${A", "${a-b}"}) {
        CAPTURE(text);
        const std::string shown = text == "${A" ? "${A" : text;
        CHECK(errors_with({{"A", "1"}}, "maxHourlySeries: '" + text + "'\n") ==
              lines{"c.yaml:1: maxHourlySeries: '" + shown +
                    "' names no variable, as ${NAME} does; for a ${ as it is write $${"});
    }
}

TEST_CASE("a value that came from a variable is not repeated in what is wrong with it") {
    const std::map<std::string, std::string> variables{{"S", "s3cret"},       {"U", "http://me:s3cret@h/w"},
                                                       {"N", "77"},           {"P", "http://h:99999/w"},
                                                       {"F", "s3cret://h/w"}, {"R", "s3cret("},
                                                       {"M", "1,234"}};
    const auto error = [&](const std::string& text) {
        const auto errors = errors_with(variables, text, text.starts_with("upstream: {url") ? overrides{} : discard);
        REQUIRE(errors.size() == 1);
        for (const auto& [name, value] : variables) CHECK(errors[0].find(value) == std::string::npos);
        CHECK(errors[0].find("s3cret") == std::string::npos);
        return errors[0].substr(errors[0].find("with "));
    };
    CHECK(error("maxHourlySeries: ${S}\n") ==
          "with ${S} filled in: is not a whole number such as 5000 or 500k; 0 is no limit");
    CHECK(error("maxHourlySeries: ${M}\n") ==
          "with ${M} filled in: is not a whole number such as 5000 or 500k; 0 is no limit");
    CHECK(error("mode: ${S}\n") == "with ${S} filled in: is neither enforce nor observe");
    CHECK(error("listen: ${S}\n") ==
          "with ${S} filled in: is not an address such as 0.0.0.0:9201, :9201 or [::1]:9201");
    CHECK(error("server: {readTimeout: '${N}'}\n") == "with ${N} filled in: has no unit");
    CHECK(error("state: '${S}'\n")
              .starts_with("with ${S} filled in: expected keys below it, got one value; for example"));
    CHECK(error("upstream: {url: '${U}'}\n") ==
          "with ${U} filled in: must not hold credentials; basicAuth has them, or else the sender's Authorization "
          "header is passed on");
    CHECK(errors_with({{"S", "s3 cret"}}, "warmStart: {url: 'http://a/{tenant}/p', tenants: ['${S}']}\n", discard)[0]
              .find("s3 cret") == std::string::npos);
    CHECK(error("upstream: {url: '${P}'}\n") == "with ${P} filled in: is not valid here");
    CHECK(error("upstream: {url: '${F}'}\n") == "with ${F} filled in: is not valid here");
    CHECK(error("exempt: ['{job=~\"${R}\"}']\n") == "with ${R} filled in: is not valid here");
    CHECK(error("exempt: ['${S} ${S}']\n") == "with ${S} filled in: is not valid here");
    CHECK(error("ignoreLabels: ['${S}', '${S}']\n") == "with ${S} filled in: is there already, as ignoreLabels[0]");
    CHECK(errors_with(variables, "limits: [{name: '${N}'}, {name: '${N}'}]\n") ==
          lines{"c.yaml:1: limits[1].name: is the name of limits[0] already"});
    CHECK(error("tenants: {header: '${N} ${S}'}\n") == "with ${N}, ${S} filled in: is not the name of an HTTP header");
}

TEST_CASE("what is wrong with a key is told whatever its value came from") {
    const std::map<std::string, std::string> variables{{"N", "5"}, {"X", "5"}};
    const auto error = [&](std::string_view text) {
        const auto errors = errors_with(variables, text);
        CHECK(errors.size() == 1);
        return errors.empty() ? "" : errors[0];
    };
    CHECK(error("maxHourlySeriess: ${N}\n") ==
          "c.yaml:1: maxHourlySeriess: unknown key, did you mean 'maxHourlySeries'?");
    CHECK(error("tenants: {team-a: \"${X}\"}\n") ==
          "c.yaml:1: tenants.team-a: unknown key; the limits of a tenant stand as 'tenants.overrides.team-a'");
    CHECK(error("state: {dirr: \"${X}\"}\n") == "c.yaml:1: state.dirr: unknown key, did you mean 'state.dir'?");
    CHECK(error("state.dir: ${X}\n") == "c.yaml:1: state.dir: must stand as 'dir:' in the section 'state:'");
    CHECK(error("mode: observe\nmode: ${X}\n") == "c.yaml:2: mode: is set twice, first on line 1");
    CHECK(error("tenants: {overrides: {a: {}, a: '${X}'}}\n") ==
          "c.yaml:1: tenants.overrides.a: is set twice, first on line 1");
    CHECK(errors_with({}, "state: {dirr: '${X}'}\n") ==
          lines{"c.yaml:1: state.dirr: the environment variable 'X' is not set",
                "c.yaml:1: state.dirr: unknown key, did you mean 'state.dir'?"});
}

TEST_CASE("sizes that came from variables are not repeated where they contradict each other") {
    const std::map<std::string, std::string> variables{{"A", "310MiB"}};
    for (const std::string key : {"maxRequestBytes", "maxInflightBytes"}) {
        const auto errors = errors_with(variables, "server:\n  maxDecodedBytes: 300MiB\n  " + key + ": ${A}\n");
        REQUIRE(errors.size() == 1);
        CHECK(errors[0].find("310") == std::string::npos);
    }
}

TEST_CASE("in a key a variable is text, and that is doubted") {
    const auto outcome = load_with({{"TEAM", "a"}}, "tenants: {overrides: {'${TEAM}': {maxHourlySeries: 5}}}\n");
    CHECK(outcome.ok());
    CHECK(outcome.value.rules.tenants.overrides.contains("${TEAM}"));
    CHECK(texts_of(outcome.warnings) == lines{"c.yaml:1: warning: tenants.overrides.${TEAM}: is taken as it stands: "
                                              "variables are filled in in values, not in keys"});
}

TEST_CASE("values of variables have a bound together") {
    std::string text = "ignoreLabels: [";
    for (int i = 0; i < 50; ++i) text += "'${BIG}', ";
    const auto errors = errors_with({{"BIG", std::string(100'000, 'x')}}, text + "]\n");
    REQUIRE_FALSE(errors.empty());
    CHECK(errors.front() == "c.yaml: is too large once its variables are filled in");
}

TEST_CASE("variables are asked for no more once their values are too large together") {
    std::string list = "ignoreLabels: ['";
    for (int i = 0; i < 1000; ++i) list += "${BIG}";
    list += "'";
    for (int i = 0; i < 1000; ++i) list += ", '${BIG}'";
    std::size_t asked = 0;
    const auto outcome = load_config_text(list + "]\n", "c.yaml", discard, [&asked](const std::string&) {
        ++asked;
        return std::optional<std::string>{std::string(1 << 20, 'x')};
    });
    CHECK_FALSE(outcome.ok());
    CHECK(asked == 5);
}

TEST_CASE("a path that is empty because its variable is gets a warning") {
    const auto outcome =
        load_with({{"DIR", ""}, {"FILE", ""}}, "state:\n  dir: ${DIR}\nfingerprint:\n  secretFile: ${FILE}\n");
    CHECK(outcome.ok());
    const std::string what = "' is empty, and so is this value: that is as if the key were left out";
    CHECK(texts_of(outcome.warnings) ==
          lines{"c.yaml:2: warning: state.dir: the environment variable 'DIR" + what,
                "c.yaml:4: warning: fingerprint.secretFile: the environment variable 'FILE" + what});
    CHECK(load_with({{"DIR", ""}}, "state: {dir: ''}\n").warnings.empty());
    CHECK(load_with({{"DIR", ""}}, "state: {dir: '/a${DIR}'}\n").warnings.empty());
    CHECK(load_with({{"DIR", "/a"}}, "state: {dir: '${DIR}'}\n").warnings.empty());
}

}  // namespace
}  // namespace seriesgate::testing::environment_test
