// What is suggested is loaded as it was meant.
#include "config/effective.hpp"

#include "config/loading.hpp"
#include "series/label.hpp"

namespace seriesgate::testing::suggested_yaml_test {
namespace {

constexpr series_maxima suggested{.hourly = 1'200, .daily = 34'000};

limit_rules rules_of(std::string_view text) {
    return loaded(text).rules;
}

std::string yaml(const limit_rules& rules, demand_scope scope, const budget_name& name,
                 const series_maxima& maxima = suggested) {
    const auto made = suggested_yaml(rules, scope, name, maxima);
    REQUIRE(made.has_value());
    return *made;
}

budget_name tenant_named(const std::string& tenant) {
    budget_name name;
    name.has_tenant = true;
    name.tenant = tenant;
    return name;
}

budget_name group_named(const std::string& limit, const group_labels& group) {
    budget_name name;
    name.limit = limit;
    name.group = group;
    return name;
}

const std::string_view with_limits =
    "tenants: {default: {maxHourlySeries: 5}, overrides: {shop: {maxHourlySeries: 7, onLimit: reject}}}\n"
    "limits:\n"
    "  - {name: all, maxHourlySeries: 9, mode: observe}\n"
    "  - name: per-namespace\n"
    "    match: '{namespace=~\".+\"}'\n"
    "    each: [namespace]\n"
    "    maxGroups: 50\n"
    "    maxHourlySeries: 10\n"
    "    onLimit: reject\n"
    "    overrides: [{group: {namespace: big}, maxHourlySeries: 70}]\n";

TEST_CASE("the gate's own maxima are two keys, and those of all tenants are their default") {
    CHECK(yaml({}, demand_scope::global, {}) == "maxHourlySeries: 1200\nmaxDailySeries: 34000\n");
    CHECK(rules_of(yaml({}, demand_scope::global, {})).global == suggested);
    CHECK(yaml({}, demand_scope::tenants, {}) ==
          "tenants:\n  default: {maxHourlySeries: 1200, maxDailySeries: 34000}\n");
    CHECK(rules_of(yaml({}, demand_scope::tenants, {})).tenants.fallback == suggested);
}

TEST_CASE("those of one tenant are an override, which keeps what its senders are told") {
    const limit_rules rules = rules_of(with_limits);
    CHECK(yaml(rules, demand_scope::tenant, tenant_named("new")) ==
          "tenants:\n  overrides: {new: {maxHourlySeries: 1200, maxDailySeries: 34000}}\n");
    const limit_rules made = rules_of(yaml(rules, demand_scope::tenant, tenant_named("shop")));
    CHECK(made.tenants.overrides.at("shop") == suggested);
    CHECK(made.tenants.answers.at("shop") == limit_answer::reject);
}

TEST_CASE("those of a limit are its whole entry") {
    limit_rules rules = rules_of(with_limits);
    for (label_limit& each : rules.limits) {
        const limit_rules made = rules_of(yaml(rules, demand_scope::limit, group_named(each.name, {})));
        each.maxima = suggested;
        for (group_override& of : each.overrides) of.maxima.daily = suggested.daily;  // which it has left out
        CHECK(made.limits == std::vector{each});
    }
}

TEST_CASE("what an override of a limit has left out stays as for the other groups") {
    const limit_rules rules = rules_of(
        "limits: [{name: l, each: [ns], maxHourlySeries: 4000, maxDailySeries: 20000, "
        "overrides: [{group: {ns: big}, maxHourlySeries: 12000}]}]\n");
    const series_maxima raised{.hourly = 4'000, .daily = 25'000};
    const auto made = suggested_yaml(rules, demand_scope::limit, group_named("l", {}), raised);
    REQUIRE(made.has_value());
    CHECK(rules_of(*made).limits.at(0).overrides.at(0).maxima == series_maxima{.hourly = 12'000, .daily = 25'000});
}

TEST_CASE("those of a group are an override in the whole entry of its limit") {
    limit_rules rules = rules_of(with_limits);
    limit_rules made = rules_of(yaml(rules, demand_scope::group, group_named("per-namespace", {{"namespace", "a"}})));
    REQUIRE(made.limits.size() == 1);
    REQUIRE(made.limits[0].overrides.size() == 2);
    CHECK(made.limits[0].overrides[1] == group_override{.group = {{"namespace", "a"}}, .maxima = suggested});
    made.limits[0].overrides.pop_back();
    CHECK(made.limits[0] == rules.limits[1]);

    made = rules_of(yaml(rules, demand_scope::group, group_named("per-namespace", {{"namespace", "big"}})));
    rules.limits[1].overrides[0].maxima = suggested;
    CHECK(made.limits.at(0) == rules.limits[1]);
}

TEST_CASE("of many overrides only the one that changes is shown, and how many others there are") {
    limit_rules rules = rules_of(with_limits);
    for (int i = 0; i < 20; ++i)
        rules.limits[1].overrides.push_back({.group = {{"namespace", "n" + std::to_string(i)}}, .maxima = {}});
    const std::string text = yaml(rules, demand_scope::group, group_named("per-namespace", {{"namespace", "n3"}}));
    CHECK(text.ends_with("    # and the other 20 overrides as they are\n"));
    const limit_rules made = rules_of(text);
    REQUIRE(made.limits.at(0).overrides.size() == 1);
    CHECK(made.limits[0].overrides[0] == group_override{.group = {{"namespace", "n3"}}, .maxima = suggested});
    CHECK(yaml(rules, demand_scope::limit, group_named("per-namespace", {}))
              .ends_with("    # and the other 21 overrides as they are\n"));
}

TEST_CASE("names that figures show readably are written as senders have them") {
    limit_rules rules = rules_of(with_limits);
    for (const std::string value :
         {"", "a: b", "null", "${HOME}", "it's", "a\nb\x1b[31m", "\\x41", "\u202e", "Zürich"}) {
        CAPTURE(value);
        const auto name = group_named("per-namespace", {{"namespace", readable(value)}});
        CHECK(rules_of(yaml(rules, demand_scope::group, name)).limits.at(0).overrides.at(1).group.at(0).second ==
              value);
        CHECK(rules_of(yaml(rules, demand_scope::tenant, tenant_named(readable(value))))
                  .tenants.overrides.contains(value));
    }
}

TEST_CASE("what no file can say is not suggested") {
    const limit_rules rules = rules_of(with_limits);
    const auto none = [&](demand_scope scope, const budget_name& name) {
        return !suggested_yaml(rules, scope, name, suggested).has_value();
    };
    CHECK(none(demand_scope::tenant, tenant_named(readable("\xff"))));
    CHECK(none(demand_scope::group, group_named("per-namespace", {{"namespace", readable("\xff")}})));
    CHECK(none(demand_scope::group, group_named("gone", {{"namespace", "a"}})));
    budget_name overflow = group_named("per-namespace", {{"namespace", "__overflow__"}});
    overflow.overflow = true;
    CHECK(none(demand_scope::group, overflow));
}

TEST_CASE("a limit by tenant alone has no groups to override, and is suggested as a whole") {
    const limit_rules rules = rules_of("limits: [{name: each-tenant, perTenant: true, maxHourlySeries: 3}]\n");
    budget_name name = tenant_named("shop");
    name.limit = "each-tenant";
    const limit_rules made = rules_of(yaml(rules, demand_scope::group, name));
    CHECK(made.limits.at(0).maxima == suggested);
    CHECK(made.limits.at(0).per_tenant);
}

}  // namespace
}  // namespace seriesgate::testing::suggested_yaml_test
