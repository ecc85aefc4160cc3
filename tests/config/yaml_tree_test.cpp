#include "config/yaml_tree.hpp"

#include <string>

#include "config/loading.hpp"
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
