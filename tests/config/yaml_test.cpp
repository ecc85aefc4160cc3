#include "config/yaml.hpp"

#include "config/loading.hpp"
#include "config/random_config.hpp"
#include "support/catch.hpp"
#include "support/sanitizers.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;

TEST_CASE("merge keys are no keys") {
    check_error("server: &s {threads: 1}\ntenants:\n  overrides:\n    <<: *s\n    '<<': {}",
                "merge keys (<<) are not supported", 4);
}

TEST_CASE("aliases that stand for themselves or for gigabytes are survived") {
    CHECK_FALSE(load_config_text("limits: &l [{name: a, overrides: *l}]\n", "c.yaml", discard).ok());
    CHECK_FALSE(load_config_text("&r {limits: [*r, *r, *r, *r], tenants: {overrides: *r}}\n", "c.yaml", discard).ok());
    if (sanitized) return;  // what follows reads millions of values

    std::string many = "limits:\n- {name: l0, each: [a], overrides: &o [";
    for (int i = 0; i < 10'000; ++i) many += "{group: {a: " + std::to_string(i) + "}}, ";
    many += "]}\n";
    for (int i = 1; i < 64; ++i) many += "- {name: l" + std::to_string(i) + ", each: [a], overrides: *o}\n";
    CHECK(errors_of(many).at(0) == "c.yaml: is too large once its aliases are written out");
}

TEST_CASE("a scalar has quotes where a reader of YAML wants them") {
    const auto line = [](const char* text) { return yaml_scalar(text); };
    for (const char* plain : {"a", "10m", "0.0001", "127.0.0.1:9201", "http://host/path", "X-Scope-OrgID", "/var/lib"})
        CHECK(line(plain) == plain);
    CHECK(line("") == "''");
    CHECK(line("null") == "'null'");
    CHECK(line("discard:") == "'discard:'");
    CHECK(line("-a") == "'-a'");
    CHECK(line("it's") == "'it''s'");
    CHECK(line("[::1]:9201") == "'[::1]:9201'");
    CHECK(line("ä\\\"") == "'ä\\\"'");
    CHECK(line("a\nb\"\\") == R"("a\x0ab\"\\")");
    CHECK(line("\u0085\u2028\ufeff\x7f") == R"("\u0085\u2028\ufeff\x7f")");
}

TEST_CASE("what is short stands in one line, sections never") {
    const YAML::Node map =
        YAML::Load("{small: {x: 1, y: []}, none: {}, list: [{x: 1, y: []}, {x: " + std::string(100, 'x') +
                   ", y: {x: 1, y: []}}, a]}");
    CHECK(yaml_line(map["small"]) == "{x: 1, y: []}");
    CHECK(yaml_text(map) ==
          "small:\n"
          "  x: 1\n"
          "  y: []\n"
          "none: {}\n"
          "list:\n"
          "  - {x: 1, y: []}\n"
          "  - x: " +
              std::string(100, 'x') +
              "\n"
              "    y: {x: 1, y: []}\n"
              "  - a\n");
}

TEST_CASE("any text is read as it was, as a name and as a value, in one line and in lines") {
    random_config random{1};
    for (int i = 0; i < (sanitized ? 2'000 : 20'000); ++i) {
        const std::string name = random.text();
        const std::string value = random.text();
        YAML::Node map{YAML::NodeType::Map};
        map.force_insert(name, value);
        for (const std::string& text : {yaml_text(map), yaml_line(map) + "\n", "a: " + yaml_line(map) + "\n"}) {
            CAPTURE(text);
            const yaml_document read = read_yaml(text);
            REQUIRE(read.faults.empty());
            const YAML::Node inner = text.starts_with("a: {") ? read.root.begin()->second : read.root;
            REQUIRE(inner.size() == 1);
            CHECK(inner.begin()->first.Scalar() == name);
            CHECK(inner.begin()->second.Scalar() == value);
            CHECK(inner.begin()->second.IsScalar());
        }
    }
}

TEST_CASE("a quote over several lines is a value, and one that is not closed an error") {
    CHECK(loaded("state: {dir: 'a\n  b'}\n").state.dir == "a b");
    CHECK(loaded("exempt: ['{a=\"b\",\n          c=\"d\"}']\n").rules.exempt.size() == 1);
    check_error("listen: :9201\nmode: \"observe\nmaxHourlySeries: 5",
                "not valid YAML: a quote that opens here is never closed", 2);
    check_error("exempt:\n  - 'up\n  - down", "not valid YAML: a quote that opens here is never closed", 2);
}

TEST_CASE("line ends of Windows and a mark of the byte order change nothing") {
    CHECK(loaded("\xef\xbb\xbfmaxHourlySeries: 5\r\nserver:\r\n  threads: 2\r\n").rules.global.hourly == 5);
    check_error("listen: :1\r\nserver:\r\n\tthreads: 2\r",
                "not valid YAML: a tab indents this line; YAML takes only spaces for that", 3);
    CHECK(loaded("server:\n  threads:\t2 \t\n").server.threads == 2);
}
