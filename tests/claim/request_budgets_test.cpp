// By which ids gates name the budgets that they share.
#include "claim/request_budgets.hpp"

#include <set>
#include <tuple>

#include "claim/asking.hpp"
#include "limit/rules.hpp"
#include "support/catch.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;

namespace {

hash_key key_of(char seed) {
    return hash_key{std::string(hash_key::random_bytes_min, seed)};
}

/// What applies to a series of a tenant, with the places that the limiter has it in.
struct described {
    std::vector<claimed_budget> budgets{};
    std::vector<std::uint32_t> places{};
};

described describe(const limit_rules& settings, std::string_view tenant, const label_set& labels,
                   const hash_key& key = key_of('a')) {
    const compiled_rules rules{settings};
    rule_selections selections;
    const std::vector<label_view> views = views_of(labels);
    REQUIRE(selections.append(rules, tenant, views));
    request_budgets all{key};
    std::vector<request_budgets::applying> found;
    all.start(rules, tenant);
    all.find(selections[0], found);
    described made;
    for (const auto& [budget, place] : found) {
        made.budgets.push_back(all.all()[budget]);
        made.places.push_back(place);
    }
    return made;
}

limit_rules all_limits() {
    limit_rules made{.global = {.hourly = 100, .daily = 200}};
    made.tenants.fallback = {.hourly = 50, .daily = 60};
    made.tenants.tenants_max = 7;
    made.limits.push_back(limit_each("teams", "team", {.hourly = 10}));
    made.limits[0].groups_max = 4;
    return made;
}

using place_list = std::vector<std::uint32_t>;

}  // namespace

TEST_CASE("a series has the global budget, its tenant's, and those of its groups") {
    const described all = describe(all_limits(), "red", {{"team", "ants"}});
    REQUIRE(all.places == place_list{0, 1, 2});
    const auto& [global, tenant, team] = std::tie(all.budgets[0], all.budgets[1], all.budgets[2]);
    CHECK(global.maxima == series_maxima{.hourly = 100, .daily = 200});
    CHECK(global.limit_budgets == 0);
    CHECK(global.places_max == 0);
    CHECK(tenant.maxima == series_maxima{.hourly = 50, .daily = 60});
    CHECK(tenant.places_max == 7);
    CHECK(tenant.overflow_maxima == tenant.maxima);
    CHECK(team.maxima == series_maxima{.hourly = 10});
    CHECK(team.places_max == 4);
    const std::set<std::uint64_t> ids{global.id, tenant.id,          tenant.limit_budgets, tenant.overflow_id,
                                      team.id,   team.limit_budgets, team.overflow_id};
    CHECK(ids.size() == 7);
    CHECK_FALSE(ids.contains(0));
}

TEST_CASE("gates with the same key name a budget alike, others do not") {
    const label_set labels{{"team", "ants"}};
    const described one = describe(all_limits(), "red", labels);
    CHECK(describe(all_limits(), "red", labels).budgets == one.budgets);
    const described other = describe(all_limits(), "red", labels, key_of('b'));
    for (std::size_t i = 0; i < 3; ++i) CHECK(other.budgets[i].id != one.budgets[i].id);
    CHECK(other.budgets[1].limit_budgets != one.budgets[1].limit_budgets);
    CHECK(other.budgets[1].overflow_id != one.budgets[1].overflow_id);
}

TEST_CASE("ids depend on names, not on maxima or on the order of limits") {
    const label_set labels{{"team", "ants"}};
    const described one = describe(all_limits(), "red", labels);
    limit_rules settings = all_limits();
    SECTION("maxima") {
        settings.global.hourly = 1;
        settings.tenants.fallback.hourly = 2;
        settings.limits[0].maxima.hourly = 3;
        const described other = describe(settings, "red", labels);
        for (std::size_t i = 0; i < 3; ++i) CHECK(other.budgets[i].id == one.budgets[i].id);
        CHECK(other.budgets[2].maxima.hourly == 3);
    }
    SECTION("another limit before it") {
        settings.limits.insert(settings.limits.begin(), limit_each("jobs", "job", {.hourly = 5}));
        const described other = describe(settings, "red", labels);
        REQUIRE(other.places == place_list{0, 1, 2, 3});
        CHECK(other.budgets[3] == one.budgets[2]);
    }
    SECTION("another name of the limit") {
        settings.limits[0].name = "crews";
        const described other = describe(settings, "red", labels);
        CHECK(other.budgets[1] == one.budgets[1]);
        CHECK(other.budgets[2].id != one.budgets[2].id);
        CHECK(other.budgets[2].limit_budgets != one.budgets[2].limit_budgets);
        CHECK(other.budgets[2].overflow_id != one.budgets[2].overflow_id);
    }
    SECTION("another tenant") {
        const described other = describe(settings, "blue", labels);
        CHECK(other.budgets[0] == one.budgets[0]);
        CHECK(other.budgets[1].id != one.budgets[1].id);
        CHECK(other.budgets[1].limit_budgets == one.budgets[1].limit_budgets);
        CHECK(other.budgets[1].overflow_id == one.budgets[1].overflow_id);
        CHECK(other.budgets[2] == one.budgets[2]);
    }
    SECTION("another group") {
        const described other = describe(settings, "red", {{"team", "bees"}});
        CHECK(other.budgets[2].id != one.budgets[2].id);
        CHECK(other.budgets[2].limit_budgets == one.budgets[2].limit_budgets);
    }
    SECTION("groups of each tenant") {
        settings.limits[0].per_tenant = true;
        const described red = describe(settings, "red", labels);
        const described blue = describe(settings, "blue", labels);
        CHECK(red.budgets[2].id != blue.budgets[2].id);
        CHECK(red.budgets[2].overflow_id == blue.budgets[2].overflow_id);
    }
}

TEST_CASE("who has maxima of its own has a place of its own") {
    limit_rules settings = all_limits();
    settings.tenants.overrides["red"] = {.hourly = 5};
    settings.limits[0].overrides = {{.group = {{"team", "ants"}}, .maxima = {.hourly = 3}}};
    const described all = describe(settings, "red", {{"team", "ants"}});
    const described before = describe(all_limits(), "red", {{"team", "ants"}});
    for (const std::size_t i : {std::size_t{1}, std::size_t{2}}) {
        CHECK(all.budgets[i].id == before.budgets[i].id);
        CHECK(all.budgets[i].limit_budgets == 0);
        CHECK(all.budgets[i].places_max == 0);
        CHECK(all.budgets[i].overflow_id == 0);
        CHECK(all.budgets[i].overflow_maxima == series_maxima{});
    }
    CHECK(all.budgets[1].maxima == series_maxima{.hourly = 5});
    CHECK(all.budgets[2].maxima == series_maxima{.hourly = 3});
    SECTION("or none: then it is not asked about") {
        settings.tenants.overrides["red"] = {};
        settings.limits[0].overrides[0].maxima = {};
        CHECK(describe(settings, "red", {{"team", "ants"}}).places == place_list{0});
    }
}

TEST_CASE("what does not limit is not named") {
    limit_rules settings = all_limits();
    SECTION("a limit that observes") {
        settings.limits[0].mode = limit_mode::observe;
        CHECK(describe(settings, "red", {}).places == place_list{0, 1});
    }
    SECTION("tenants that are observed") {
        settings.tenants.mode = limit_mode::observe;
        CHECK(describe(settings, "red", {}).places == place_list{0, 2});
    }
    SECTION("no global limit") {
        settings.global = {};
        CHECK(describe(settings, "red", {}).places == place_list{1, 2});
    }
    SECTION("a limit that selects other series") {
        settings.limits[0].match = selecting("{team=\"bees\"}");
        CHECK(describe(settings, "red", {{"team", "ants"}}).places == place_list{0, 1});
    }
    SECTION("an exempt series") {
        settings.exempt.push_back(selecting("{team=\"ants\"}"));
        CHECK(describe(settings, "red", {{"team", "ants"}}).places.empty());
    }
    SECTION("groups without a maximum, if those that share have one") {
        settings.limits[0].maxima = {};
        CHECK(describe(settings, "red", {{"team", "ants"}}).places == place_list{0, 1});
        settings.limits[0].overrides = {{.group = {{"team", "__overflow__"}}, .maxima = {.hourly = 2}}};
        const described all = describe(settings, "red", {{"team", "ants"}});
        REQUIRE(all.places == place_list{0, 1, 2});
        CHECK(all.budgets[2].maxima == series_maxima{});
        CHECK(all.budgets[2].overflow_maxima == series_maxima{.hourly = 2});
    }
}

TEST_CASE("a tenant or group that is called __overflow__, or has too long a name, is of those that share") {
    const described other = describe(all_limits(), "red", {{"team", "ants"}});
    const std::string overlong(group_key_bytes_max + 1, 'x');
    const auto name = GENERATE_COPY(std::string{overflow_name}, overlong);
    const described all = describe(all_limits(), name, {{"team", name}});
    REQUIRE(all.places == place_list{0, 1, 2});
    for (const std::size_t i : {std::size_t{1}, std::size_t{2}}) {
        CHECK(all.budgets[i].id == other.budgets[i].overflow_id);
        CHECK(all.budgets[i].maxima == other.budgets[i].overflow_maxima);
        CHECK(all.budgets[i].limit_budgets == 0);
    }
}

TEST_CASE("series of one request name a budget once") {
    const compiled_rules rules{all_limits()};
    rule_selections selections;
    const label_set ants{{"team", "ants"}}, bees{{"team", "bees"}};
    const auto ants_views = views_of(ants), bees_views = views_of(bees);
    for (const auto* views : {&ants_views, &bees_views, &ants_views}) REQUIRE(selections.append(rules, "red", *views));
    request_budgets all{key_of('a')};
    all.start(rules, "red");
    std::vector<request_budgets::applying> first, second, third;
    all.find(selections[0], first);
    all.find(selections[1], second);
    all.find(selections[2], third);
    CHECK(all.all().size() == 4);
    CHECK(first == third);
    CHECK(first == std::vector<request_budgets::applying>{{0, 0}, {1, 1}, {2, 2}});
    CHECK(second == std::vector<request_budgets::applying>{{0, 0}, {1, 1}, {3, 2}});
    all.start(rules, "blue");
    CHECK(all.all().empty());
    all.shrink();
    all.find(selections[0], first);
    CHECK(all.all().size() == 3);
}
