#include <fmt/format.h>

#include "config/loading.hpp"
#include "limit/rules.hpp"
#include "support/catch.hpp"

namespace seriesgate::testing::limits_test {
namespace {

selector selects(std::string_view text) {
    auto parsed = parse_selector(text);
    REQUIRE(parsed.has_value());
    return *parsed;
}

// The errors of one limit with a name.
lines limit_errors(const std::string& rest) {
    return errors_of("limits:\n- name: a\n" + rest);
}

// One key of it, and the only error: of this key.
void check_limit(const std::string& key, const std::string& expected) {
    check_error("limits:\n- name: a\n  " + key, "limits[0]." + expected, 3);
}

TEST_CASE("a limit with every key arrives in its place, in block and in flow style") {
    const label_limit expected{.name = "per-namespace",
                               .match = selects("{namespace=~\".+\"}"),
                               .each = {"namespace", "k8s.job"},
                               .groups_max = 50,
                               .maxima = {20'000, 100'000},
                               .mode = limit_mode::observe,
                               .answer = limit_answer::reject,
                               .per_tenant = true,
                               .overrides = {{{{"namespace", "kube-system"}, {"k8s.job", ""}}, {200'000, 100'000}},
                                             {{{"namespace", "b"}, {"k8s.job", "1.0"}}, {20'000, 0}}}};
    const config block = loaded(
        "limits:\n"
        "  - name: per-namespace\n"
        "    match: '{namespace=~\".+\"}'\n"
        "    each:\n"
        "      - namespace\n"
        "      - k8s.job\n"
        "    maxGroups: 50\n"
        "    maxHourlySeries: 20000\n"
        "    maxDailySeries: 100000\n"
        "    mode: observe\n"
        "    onLimit: reject\n"
        "    perTenant: true\n"
        "    overrides:\n"
        "      - group:\n"
        "          k8s.job: ''\n"
        "          namespace: kube-system\n"
        "        maxHourlySeries: 200000\n"
        "      - maxDailySeries: 0\n"
        "        group: {namespace: b, k8s.job: 1.0}\n");
    REQUIRE(block.rules.limits.size() == 1);
    CHECK(block.rules.limits[0] == expected);

    const config flow = loaded(
        "{limits: [{overrides: [{maxHourlySeries: 200000, group: {k8s.job: '', namespace: kube-system}}, {group: "
        "{namespace: b, k8s.job: 1.0}, maxDailySeries: 0}], perTenant: true, onLimit: reject, mode: observe, "
        "maxDailySeries: 100000, maxHourlySeries: 20000, maxGroups: 50, each: [namespace, k8s.job], match: "
        "'{namespace=~\".+\"}', name: per-namespace}]}\n");
    CHECK(flow == block);
}

TEST_CASE("a limit needs no more than a name") {
    const config read = loaded("limits:\n- name: A_b.c-9\n- {name: x, each: [], overrides: []}\n- {name: y, each: }\n");
    REQUIRE(read.rules.limits.size() == 3);
    CHECK(read.rules.limits[0] == label_limit{.name = "A_b.c-9",
                                              .match = std::nullopt,
                                              .each = {},
                                              .groups_max = 10'000,
                                              .maxima = {},
                                              .mode = limit_mode::enforce,
                                              .answer = std::nullopt,
                                              .per_tenant = false,
                                              .overrides = {}});
    CHECK(read.rules.limits[1].each.empty());
}

TEST_CASE("a limit's name is required, plain and its own") {
    CHECK(errors_of("limits:\n- maxHourlySeries: 5\n-\n- {}\n") == lines{"c.yaml:2: limits[0].name: is required",
                                                                         "c.yaml:2: limits[1].name: is required",
                                                                         "c.yaml:4: limits[2].name: is required"});
    check_error("limits:\n- name: a\n- name: b\n- maxHourlySeries: 1\n  name: a",
                "limits[2].name: 'a' is the name of limits[0] already", 5);
    const auto name_error = [](const std::string& name) { return errors_of("limits: [{name: '" + name + "'}]\n"); };
    for (const std::string name : {"", "a b", "a/b", "\xc3\xa4", "a{}"}) {
        CHECK(name_error(name) == lines{"c.yaml:1: limits[0].name: '" + name +
                                        "' is not a name made of letters, digits, '_', '.' and '-'"});
    }
    for (const std::string name : {"global", "tenant", "__unknown__", "__other__", "__unavailable__"}) {
        CHECK(name_error(name) == lines{"c.yaml:1: limits[0].name: '" + name +
                                        "' is what metrics and log lines call something else: choose another name"});
    }
    CHECK(name_error(std::string(100, 'n')).empty());
    CHECK(name_error(std::string(101, 'n')) ==
          lines{"c.yaml:1: limits[0].name: '" + std::string(80, 'n') + "...' is too long, at most 100 characters"});
    CHECK(errors_of("limits:\n- name: a b\n- name: a b\n").size() == 2);
    check_error("limits:\n- name: [a]", "limits[0].name: expected one value, got a list", 2);
    check_error("limits:\n- name:", "limits[0].name: has no value", 2);
}

TEST_CASE("limits are maps") {
    CHECK(errors_of("limits: [a, [b]]\n") == lines{"c.yaml:1: limits[0]: expected keys below it, got 'a'",
                                                   "c.yaml:1: limits[1]: expected keys below it, got a list"});
    std::string text = "limits:\n";
    for (int i = 0; i < 64; ++i) text += fmt::format("- name: l{}\n", i);
    CHECK(loaded(text).rules.limits.size() == 64);
    CHECK(errors_of(text + "- {name: more}\n").at(0).find("has 65 items, at most 64 are possible") !=
          std::string::npos);
}

TEST_CASE("unknown and repeated keys of a limit are errors") {
    check_limit("maxHourlySerie: 5", "maxHourlySerie: unknown key, did you mean 'maxHourlySeries'?");
    CHECK(limit_errors("  eachs: [x]\n  match.x: 5\n  frobnicate: 1\n") ==
          lines{"c.yaml:3: limits[0].eachs: unknown key, did you mean 'each'?",
                "c.yaml:4: limits[0].match.x: unknown key, did you mean 'match'?",
                "c.yaml:5: limits[0].frobnicate: unknown key"});
    CHECK(limit_errors("  mode: observe\n  mode: enforce\n") ==
          lines{"c.yaml:4: limits[0].mode: is set twice, first on line 3"});
    CHECK(limit_errors("  each: [b]\n  overrides:\n  - group: {b: c}\n    maxhourlyseries: 5\n    group: {b: d}\n") ==
          lines{"c.yaml:6: limits[0].overrides[0].maxhourlyseries: unknown key, did you mean 'maxHourlySeries'?",
                "c.yaml:7: limits[0].overrides[0].group: is set twice, first on line 5"});
}

TEST_CASE("a bad selector is told in the parser's words") {
    check_limit("match: up{job=x}", "match: expected a quoted string, found 'x' at byte 7");
    check_limit("match: '{a=~\"b(\"}'", "match: bad regular expression (missing ): b() at byte 4");
    check_limit("match: '{a=~\".*\"}'",
                "match: selects series that have none of its labels; at least one matcher must refuse the empty "
                "string, as in {__name__=~\".+\"}");
    check_limit("match: ''", "match: expected a metric's name or '{', found the end at byte 0");
    check_limit("match:", "match: has no value");
}

TEST_CASE("a selector that YAML takes for a map needs quotes") {
    check_limit("match: {namespace=~\".+\"}",
                "match: expected a selector in quotes, such as '{namespace=~\".+\"}', got keys and values");
    check_limit("match: [up]", "match: expected a selector in quotes, such as '{namespace=~\".+\"}', got a list");
}

TEST_CASE("the labels of a limit are names, each once, up to 16") {
    CHECK(limit_errors("  each: [a, b, a, '']\n") ==
          lines{"c.yaml:3: limits[0].each[2]: is there already, as limits[0].each[0]",
                "c.yaml:3: limits[0].each[3]: is empty, expected the name of a label"});
    CHECK(limit_errors("  each:\n  - [a]\n  - b: c\n  -\n") ==
          lines{"c.yaml:4: limits[0].each[0]: expected one value, got a list",
                "c.yaml:5: limits[0].each[1]: expected one value, got keys and values",
                "c.yaml:5: limits[0].each[2]: has no value"});
    check_limit("each: namespace", "each: expected a list, got 'namespace'");
    check_limit("each: {a: b}", "each: expected a list, got keys and values");
    CHECK(limit_errors("  each: [1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16]\n").empty());
    check_limit("each: [1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17]", "each: has 17 items, at most 16 are possible");
}

TEST_CASE("the values of a limit have bounds") {
    CHECK(limit_errors("  maxHourlySeries: -1\n  maxDailySeries: 1000000000001\n") ==
          lines{"c.yaml:3: limits[0].maxHourlySeries: '-1' is negative; 0 is no limit",
                "c.yaml:4: limits[0].maxDailySeries: '1000000000001' is too large, at most 1000000000000"});
    CHECK(limit_errors("  each: [b]\n  maxGroups: 0\n") ==
          lines{"c.yaml:4: limits[0].maxGroups: '0' is too small, at least 1"});
    CHECK(limit_errors("  each: [b]\n  maxGroups: 10000001\n") ==
          lines{"c.yaml:4: limits[0].maxGroups: '10000001' is too large, at most 10000000"});
    CHECK(limit_errors("  mode: off\n  perTenant: yes\n") ==
          lines{"c.yaml:3: limits[0].mode: 'off' is neither enforce nor observe",
                "c.yaml:4: limits[0].perTenant: 'yes' is neither true nor false"});
    check_error("mode: Observe", "mode: 'Observe' is neither enforce nor observe");
}

TEST_CASE("what speaks of groups needs each") {
    const std::string message = "needs 'each': without it all series of the limit share one budget";
    CHECK(limit_errors("  maxGroups: 5\n  overrides:\n  - {group: {b: c}, maxHourlySeries: x}\n") ==
          lines{"c.yaml:3: limits[0].maxGroups: " + message, "c.yaml:4: limits[0].overrides: " + message,
                "c.yaml:5: limits[0].overrides[0].maxHourlySeries: 'x' is not a whole number such as 5000 or 500k; 0 "
                "is no limit"});
    // With an error in `each` nobody knows.
    CHECK(limit_errors("  each: [b, '']\n  maxGroups: 5\n  overrides:\n  - {group: {c: d}, maxDailySeries: -1}\n") ==
          lines{"c.yaml:3: limits[0].each[1]: is empty, expected the name of a label",
                "c.yaml:6: limits[0].overrides[0].maxDailySeries: '-1' is negative; 0 is no limit"});
    CHECK(limit_errors("  each: ['']\n  maxGroups: 5\n").size() == 1);
}

TEST_CASE("an override names a value for every label of each, and no other label") {
    const auto override_errors = [](const std::string& group) {
        return limit_errors("  each: [namespace, job]\n  overrides:\n  - maxHourlySeries: 1\n" + group);
    };
    const std::string at = "limits[0].overrides[0].group";
    CHECK(override_errors("") == lines{"c.yaml:5: " + at + ": is required"});
    CHECK(override_errors("    group:\n") ==
          lines{"c.yaml:6: " + at + ".namespace: is required: a group has a value for every label of 'each'",
                "c.yaml:6: " + at + ".job: is required: a group has a value for every label of 'each'"});
    CHECK(override_errors("    group: {job: a, namespce: b}\n") ==
          lines{"c.yaml:6: " + at + ".namespce: is not one of the limit's labels, did you mean 'namespace'?",
                "c.yaml:6: " + at + ".namespace: is required: a group has a value for every label of 'each'"});
    CHECK(override_errors("    group:\n      job: a\n      namespace:\n      job: b\n      cluster: c\n") ==
          lines{"c.yaml:8: " + at + ".namespace: has no value",
                "c.yaml:9: " + at + ".job: is set twice, first on line 7",
                "c.yaml:10: " + at + ".cluster: is not one of the limit's labels"});
    CHECK(override_errors("    group: {job: [a], namespace: {b: c}}\n") ==
          lines{"c.yaml:6: " + at + ".job: expected one value, got a list",
                "c.yaml:6: " + at + ".namespace: expected one value, got keys and values"});
    CHECK(override_errors("    group: [a, b]\n").front() == "c.yaml:6: " + at + ": expected keys below it, got a list");
}

TEST_CASE("overrides are a list, each group once") {
    CHECK(limit_errors("  each: [a, b]\n"
                       "  overrides:\n"
                       "  - {group: {a: 1, b: 2}, maxHourlySeries: 1}\n"
                       "  - {group: {a: 2, b: 1}, maxHourlySeries: 1}\n"
                       "  - {group: {b: 2, a: 1}, maxHourlySeries: 1}\n") ==
          lines{"c.yaml:7: limits[0].overrides[2]: has the same group as limits[0].overrides[0]"});
    CHECK(limit_errors("  each: [a]\n  overrides: {group: {a: b}}\n") ==
          lines{"c.yaml:4: limits[0].overrides: expected a list, got keys and values"});
    CHECK(limit_errors("  each: [a]\n  overrides: [b, [c]]\n") ==
          lines{"c.yaml:4: limits[0].overrides[0]: expected keys below it, got 'b'",
                "c.yaml:4: limits[0].overrides[1]: expected keys below it, got a list"});
}

TEST_CASE("an override is for a group that can have a budget of its own") {
    const auto error_of = [](std::size_t bytes) {
        return errors_of("limits: [{name: a, each: [x, y], overrides: [{group: {x: k, y: " + std::string(bytes, 'v') +
                         "}, maxHourlySeries: 1}]}]\n");
    };
    CHECK(error_of(group_key_bytes_max - 4).empty());
    REQUIRE_FALSE(error_of(group_key_bytes_max - 3).empty());
}

TEST_CASE("what an override leaves out is the limit's own, wherever that stands") {
    const config read = loaded(
        "limits:\n"
        "- overrides:\n"
        "  - {group: {a: x}}\n"
        "  - {group: {a: y}, maxDailySeries: 9}\n"
        "  each: [a]\n"
        "  maxDailySeries: 200\n"
        "  maxHourlySeries: 100\n"
        "  name: late\n");
    REQUIRE(read.rules.limits[0].overrides.size() == 2);
    CHECK(read.rules.limits[0].overrides[0] == group_override{{{"a", "x"}}, {100, 200}});
    CHECK(read.rules.limits[0].overrides[1] == group_override{{{"a", "y"}}, {100, 9}});
}

TEST_CASE("limits that share lines by an alias are read as if written out") {
    const config read = loaded(
        "limits:\n"
        "- {name: a, each: &labels [x, y], maxHourlySeries: &many 500}\n"
        "- {name: b, each: *labels, maxHourlySeries: *many}\n");
    REQUIRE(read.rules.limits.size() == 2);
    CHECK(read.rules.limits[1].each == read.rules.limits[0].each);
    CHECK(read.rules.limits[1].maxima.hourly == 500);
}

TEST_CASE("exempt is a list of selectors") {
    const config read = loaded("exempt: ['{__name__=~\"up|ALERTS.*\"}', scrape_duration_seconds]\n");
    REQUIRE(read.rules.exempt.size() == 2);
    CHECK(read.rules.exempt[0] == selects("{__name__=~\"up|ALERTS.*\"}"));
    CHECK(read.rules.exempt[1] == selects("scrape_duration_seconds"));
    CHECK(
        errors_of("exempt:\n- up\n- 'up{'\n- {a=\"b\"}\n-\n") ==
        lines{"c.yaml:3: exempt[1]: expected a label's name or '}', found the end at byte 3",
              "c.yaml:4: exempt[2]: expected a selector in quotes, such as '{namespace=~\".+\"}', got keys and values",
              "c.yaml:4: exempt[3]: has no value"});
}

TEST_CASE("ignoreLabels is a list of label names, each once") {
    CHECK(loaded("ignoreLabels: [prometheus_replica, replica]\n").ignore_labels ==
          lines{"prometheus_replica", "replica"});
    CHECK(errors_of("ignoreLabels:\n- a\n- a\n- ''\n- \"a\\nb\"\n- \"a\\nb\"\n") ==
          lines{"c.yaml:3: ignoreLabels[1]: is there already, as ignoreLabels[0]",
                "c.yaml:4: ignoreLabels[2]: is empty, expected the name of a label",
                "c.yaml:6: ignoreLabels[4]: is there already, as ignoreLabels[3]"});
}

TEST_CASE("state is a directory and an interval") {
    CHECK(loaded("state: {dir: ''}\n").state == state_config{});
    check_error("state: {dir: \"a\\0b\"}", "state.dir: 'a?b' is not a path");
    CHECK(errors_of("state: {dir: , interval: 5}\n") ==
          lines{"c.yaml:1: state.dir: has no value", "c.yaml:1: state.interval: '5' has no unit: write 5s"});
    check_error("state: /var/lib/seriesgate", "state: expected keys below it, got '/var/lib/seriesgate'");
}

TEST_CASE("errors in all sections are told in the order of the file") {
    CHECK(errors_of("exempt: [x y]\n"
                    "limits:\n"
                    "- name: a\n"
                    "  perTenant: 1\n"
                    "tenants:\n"
                    "  overrides: {t: {x: 1}}\n"
                    "  default: {maxDailySeries: -1}\n"
                    "mode: no\n") == lines{"c.yaml:1: exempt[0]: expected the end of the selector, found 'y' at byte 2",
                                           "c.yaml:4: limits[0].perTenant: '1' is neither true nor false",
                                           "c.yaml:6: tenants.overrides.t.x: unknown key",
                                           "c.yaml:7: tenants.default.maxDailySeries: '-1' is negative; 0 is no limit",
                                           "c.yaml:8: mode: 'no' is neither enforce nor observe"});
}

}  // namespace
}  // namespace seriesgate::testing::limits_test
