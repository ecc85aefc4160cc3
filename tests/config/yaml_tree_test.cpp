#include "config/yaml_tree.hpp"

#include <string>

#include "config/loading.hpp"
#include "config/random_config.hpp"
#include "config/yaml_text.hpp"
#include "support/catch.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;

TEST_CASE("YAML becomes values with their lines") {
    const yaml_tree tree = read_yaml("a: 1\n\nb:\n  - x\n  - {c: '', d: }\n\"\": [] # empty\n");
    CHECK(tree.faults.empty());
    REQUIRE(tree.root.kind == yaml_kind::map);
    REQUIRE(tree.root.members.size() == 3);
    const yaml_member& b = tree.root.members[1];
    CHECK(b.name == "b");
    CHECK(b.line == 3);
    REQUIRE(b.value.items.size() == 2);
    CHECK(b.value.items[0].kind == yaml_kind::text);
    CHECK(b.value.items[0].text == "x");
    CHECK(b.value.items[0].line == 4);
    REQUIRE(b.value.items[1].members.size() == 2);
    CHECK(b.value.items[1].line == 5);
    CHECK(b.value.items[1].members[0].value.kind == yaml_kind::text);
    CHECK(b.value.items[1].members[1].value.kind == yaml_kind::nothing);
    CHECK(tree.root.members[2].name.empty());
    CHECK(tree.root.members[2].value.kind == yaml_kind::list);
}

TEST_CASE("merge keys are no keys") {
    CHECK(errors_of("server: &s {threads: 1}\ntenants:\n  overrides:\n    <<: *s\n    '<<': {}\n") ==
          lines{"c.yaml:4: merge keys (<<) are not supported"});
}

TEST_CASE("what stands deeper than any key is cut off") {
    yaml_value value = read_yaml("a: [[[[[[[[[[1]]]]]]]]]]\n").root;
    std::size_t depth = 0;
    for (value = value.members.at(0).value; !value.items.empty(); value = yaml_value{value.items.at(0)}) ++depth;
    CHECK(depth == yaml_depth_max - 1);
    CHECK(value.kind == yaml_kind::list);
}

TEST_CASE("aliases that stand for themselves or for gigabytes are survived") {
    CHECK_FALSE(load_config_text("limits: &l [{name: a, overrides: *l}]\n", "c.yaml", discard).ok());
    CHECK_FALSE(load_config_text("&r {limits: [*r, *r, *r, *r], tenants: {overrides: *r}}\n", "c.yaml", discard).ok());

    const std::string too_large = "c.yaml: is too large once its aliases are written out";
    std::string wide = "x: &a " + std::string(1000, 'y') + "\n";
    for (const char name : {'b', 'c', 'd'}) {
        wide += std::string{name} + ": &" + name + " [";
        for (int i = 0; i < 100; ++i) wide += std::string{"*"} + static_cast<char>(name - 1) + ", ";
        wide += "]\n";
    }
    CHECK(errors_of(wide).front() == too_large);

    std::string heavy = "x: &a '" + std::string(16'000, 'y') + "'\nexempt: [";
    for (int i = 0; i < 10'000; ++i) heavy += "*a, ";
    CHECK(errors_of(heavy + "]\n").front() == too_large);
}

TEST_CASE("a scalar has quotes where a reader of YAML wants them") {
    const auto line = [](const char* text) { return yaml_line(yaml_scalar(text)); };
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
    const yaml_value small = yaml_map({yaml_entry("x", yaml_scalar("1")), yaml_entry("y", yaml_list({}))});
    const yaml_value wide = yaml_map({yaml_entry("x", yaml_scalar(std::string(100, 'x'))), yaml_entry("y", small)});
    CHECK(yaml_line(small) == "{x: 1, y: []}");
    CHECK(yaml_text(yaml_map({yaml_entry("small", small), yaml_entry("none", yaml_map({})),
                              yaml_entry("list", yaml_list({small, wide, yaml_scalar("a")}))})) ==
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
    for (int i = 0; i < 20'000; ++i) {
        const std::string name = random.text(true);
        const std::string value = random.text(true);
        const yaml_value map = yaml_map({yaml_entry(name, yaml_scalar(value))});
        for (const std::string& text : {yaml_text(map), yaml_line(map) + "\n", "a: " + yaml_line(map) + "\n"}) {
            CAPTURE(text);
            const yaml_tree read = read_yaml(text);
            REQUIRE(read.faults.empty());
            const bool deeper = text.starts_with("a: {");
            const auto& members = deeper ? read.root.members.at(0).value.members : read.root.members;
            REQUIRE(members.size() == 1);
            CHECK(members[0].name == name);
            CHECK(members[0].value.text == value);
            CHECK(members[0].value.kind == yaml_kind::text);
        }
    }
}
