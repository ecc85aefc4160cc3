#include "config/yaml_text.hpp"

#include "config/random_config.hpp"
#include "support/catch.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;

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
