// By which numbers gates name the limits and budgets that they share.
#include "claim/fleet_rules.hpp"

#include <initializer_list>

#include "limit/labelled.hpp"
#include "limit/rules.hpp"
#include "support/catch.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;

namespace {

/// The rules of a gate, and the budgets that they share.
struct sharing {
    fleet_rules rules;

    explicit sharing(const limit_rules& settings, char key = 'a')
        : rules{hash_key{std::string(hash_key::random_bytes_min, key)}} {
        rules.use(std::make_shared<const compiled_rules>(settings));
    }

    auto global() { return rules.budget_of({.kind = budget_kind::global}, ""); }
    auto tenant(std::string_view name) { return rules.budget_of({.kind = budget_kind::tenant}, name); }
    /// @param values the tenant, if the limit is per tenant, and those of the labels.
    auto group(std::initializer_list<std::string_view> values, std::uint32_t limit = 0) {
        std::string key;
        for (const std::string_view each : values) append_key_part(key, each);
        return rules.budget_of({.kind = budget_kind::group, .limit = limit}, key);
    }
    gate_terms terms() {
        gate_terms made;
        rules.describe(made);
        return made;
    }
    /// The global one, red's, and the ants'.
    std::vector<shared_budget> all() { return {global().value(), tenant("red").value(), group({"ants"}).value()}; }
};

limit_rules all_limits() {
    limit_rules made{.global = {.hourly = 100, .daily = 200}};
    made.tenants.fallback = {.hourly = 50, .daily = 60};
    made.tenants.tenants_max = 7;
    made.limits = {limit_named("teams", {"team"}, {.hourly = 10})};
    made.limits[0].groups_max = 4;
    return made;
}

/// What is changed, and how.
using changes = std::initializer_list<std::pair<std::string_view, void (*)(limit_rules&)>>;

/// All numbers of a budget.
std::set<std::uint64_t> numbers_of(const shared_budget& of) {
    return {of.id, of.limit, of.sharing, of.group_set, of.overflow_id};
}

}  // namespace

TEST_CASE("each budget names its limit, and one of many names its set and who shares beyond that") {
    sharing gate{all_limits()};
    const auto all = gate.all();
    CHECK(all[0] == shared_budget{.id = all[0].id, .limit = all[0].limit, .maxima = {.hourly = 100, .daily = 200}});
    CHECK(all[1].maxima == series_maxima{.hourly = 50, .daily = 60});
    CHECK(all[1].overflow_maxima == all[1].maxima);
    CHECK(all[1].groups_max == 7);
    CHECK(all[2].maxima == series_maxima{.hourly = 10});
    CHECK(all[2].groups_max == 4);
    std::set<std::uint64_t> different = numbers_of(all[1]);
    different.merge(numbers_of(all[2]));
    CHECK_FALSE(different.contains(0));
    different.merge(numbers_of(all[0]));
    CHECK(different.size() == 13);  // with the 0 of the global budget, which stands alone
}

TEST_CASE("a gate says all that it counts, and how many series there may be") {
    limit_rules settings = all_limits();
    for (const char* const name : {"a", "b", "c", "d"}) settings.limits.push_back(limit_named(name, {}, {.hourly = 1}));
    sharing gate{settings};
    const gate_terms terms = gate.terms();
    std::set<std::uint64_t> wanted;
    std::vector<shared_budget> all = gate.all();
    for (std::uint32_t i = 1; i <= 4; ++i) all.push_back(gate.group({}, i).value());
    for (const shared_budget& each : all) {
        wanted.insert(each.limit);
        if (each.sharing != 0) wanted.insert(each.sharing);
    }
    CHECK(wanted.size() == 13);
    CHECK(terms.limits == std::vector(wanted.begin(), wanted.end()));  // in ascending order
    CHECK(terms.room == 100);
    CHECK(terms.day_room == 200);
}

TEST_CASE("a limit that counts more budgets has another number, and its budgets keep theirs") {
    limit_rules settings = all_limits();
    sharing before{settings};
    SECTION("the fallback of tenants") {
        settings.tenants.fallback = {};
        settings.tenants.overrides["red"] = {.hourly = 50, .daily = 60};
        sharing first{settings};
        CHECK(first.tenant("red")->limit != before.tenant("red")->limit);
        CHECK(first.tenant("red")->id == before.tenant("red")->id);
        CHECK(first.global()->limit == before.global()->limit);
    }
    SECTION("another maximum of the same budgets changes none") {
        settings.tenants.fallback = {.hourly = 5, .daily = 6};
        settings.tenants.overrides["red"] = {.hourly = 500, .daily = 60};
        CHECK(sharing{settings}.tenant("red")->limit == before.tenant("red")->limit);
    }
    SECTION("nor does a second maximum") {
        settings.limits[0].maxima.daily = 20;
        CHECK(sharing{settings}.group({"a"})->limit == before.group({"a"})->limit);
    }
    SECTION("nor the order of the overrides") {
        settings.limits[0].overrides = {{.group = {{"team", "a"}}, .maxima = {}},
                                        {.group = {{"team", "b"}}, .maxima = {}}};
        limit_rules other = settings;
        std::ranges::reverse(other.limits[0].overrides);
        CHECK(sharing{settings}.group({"c"})->limit == sharing{other}.group({"c"})->limit);
        CHECK(sharing{settings}.group({"c"})->limit != before.group({"c"})->limit);
    }
}

TEST_CASE("gates with the same key name a budget alike, others do not") {
    sharing gate{all_limits()};
    CHECK(sharing{all_limits()}.all() == gate.all());
    sharing other{all_limits(), 'b'};
    for (std::size_t i = 0; i < 3; ++i)
        for (const std::uint64_t each : numbers_of(other.all()[i]))
            CHECK((each == 0 || !numbers_of(gate.all()[i]).contains(each)));
}

TEST_CASE("numbers stay while a budget counts the same series") {
    limit_rules settings = all_limits();
    sharing gate{settings};
    const auto before = gate.all();
    SECTION("with other maxima") {
        settings.global.hourly = 1;
        settings.tenants.fallback.hourly = 2;
        settings.limits[0].maxima.hourly = 3;
    }
    SECTION("observed") {
        settings.mode = limit_mode::observe;
    }
    SECTION("with another limit before it") {
        settings.limits.insert(settings.limits.begin(), limit_named("jobs", {"job"}, {.hourly = 5}));
        sharing other{settings};
        CHECK(other.group({"ants"}, 1) == before[2]);
        CHECK(numbers_of(*other.group({"ants"}, 0)) != numbers_of(before[2]));
        settings.limits.erase(settings.limits.begin());
    }
    gate.rules.use(std::make_shared<const compiled_rules>(settings));
    for (std::size_t i = 0; i < 3; ++i) CHECK(numbers_of(gate.all()[i]) == numbers_of(before[i]));
}

TEST_CASE("who shares has another number when other groups or tenants may, and all else keeps its own") {
    const limit_rules usual = all_limits();
    const auto before = sharing{usual}.all();
    for (const auto& [what, change] :
         changes{{"more tenants", [](limit_rules& to) { to.tenants.tenants_max = 8; }},
                 {"one tenant apart", [](limit_rules& to) { to.tenants.overrides["blue"] = {.hourly = 5}; }},
                 {"this tenant apart", [](limit_rules& to) { to.tenants.overrides["red"] = {.hourly = 5}; }},
                 {"more groups", [](limit_rules& to) { to.limits[0].groups_max = 5; }},
                 {"one group apart",
                  [](limit_rules& to) {
                      to.limits[0].overrides = {{.group = {{"team", "bees"}}, .maxima = {.hourly = 3}}};
                  }},
                 {"this group apart", [](limit_rules& to) {
                      to.limits[0].overrides = {{.group = {{"team", "ants"}}, .maxima = {.hourly = 3}}};
                  }}}) {
        CAPTURE(what);
        limit_rules settings = usual;
        change(settings);
        const auto after = sharing{settings}.all();
        const std::size_t changed = std::string_view{what}.find("tenant") == std::string_view::npos ? 2 : 1;
        for (std::size_t i = 0; i < 3; ++i) {
            CHECK((after[i].sharing != before[i].sharing) == (i == changed));
            CHECK(after[i].overflow_id == before[i].overflow_id);
            CHECK(after[i].limit == before[i].limit);
            CHECK(after[i].id == before[i].id);
        }
    }
}

TEST_CASE("numbers are others when a limit counts other series") {
    limit_rules usual = all_limits();
    usual.exempt = {selecting("{job=\"web\"}")};
    const auto before = sharing{usual}.all();
    for (const auto& [what, change] :
         changes{{"another name", [](limit_rules& to) { to.limits[0].name = "crews"; }},
                 {"another selector", [](limit_rules& to) { to.limits[0].match = selecting("{job=\"api\"}"); }},
                 {"another label", [](limit_rules& to) { to.limits[0].each = {"crew"}; }},
                 {"one more label", [](limit_rules& to) { to.limits[0].each.push_back("job"); }},
                 {"of each tenant", [](limit_rules& to) { to.limits[0].per_tenant = true; }},
                 {"other exempt series", [](limit_rules& to) { to.exempt = {selecting("{job=\"api\"}")}; }}}) {
        CAPTURE(what);
        limit_rules settings = usual;
        change(settings);
        const auto after = sharing{settings}.all();
        const bool is_of_all = what == "other exempt series"sv;
        for (std::size_t i = 0; i < 3; ++i)
            for (const std::uint64_t each : numbers_of(after[i]))
                CHECK((each == 0 || numbers_of(before[i]).contains(each) != (is_of_all || i == 2)));
    }
}

TEST_CASE("each tenant and each group has a number of its own in the set of its limit") {
    limit_rules settings = all_limits();
    std::optional<shared_budget> one, other;
    SECTION("tenants") {
        sharing gate{settings};
        one = gate.tenant("red");
        other = gate.tenant("blue");
    }
    SECTION("groups") {
        sharing gate{settings};
        one = gate.group({"ants"});
        other = gate.group({"bees"});
    }
    SECTION("groups of each tenant") {
        settings.limits[0].per_tenant = true;
        sharing gate{settings};
        one = gate.group({"red", "ants"});
        other = gate.group({"blue", "ants"});
    }
    CHECK(one->id != other->id);
    other->id = one->id;
    CHECK(one == other);
}

TEST_CASE("a tenant or group with maxima of its own stands alone") {
    limit_rules settings = all_limits();
    const auto before = sharing{settings}.all();
    settings.tenants.overrides["red"] = {.hourly = 5};
    settings.limits[0].overrides = {{.group = {{"team", "ants"}}, .maxima = {.hourly = 3}}};
    const auto all = sharing{settings}.all();
    for (const std::size_t i : {1u, 2u})
        CHECK(all[i] == shared_budget{.id = before[i].id,
                                      .limit = before[i].limit,
                                      .maxima = {.hourly = i == 1 ? 5u : 3u},
                                      .sharing = all[i].sharing,
                                      .overflow_id = before[i].overflow_id});
    SECTION("or is not counted, if these are none") {
        settings.tenants.overrides["red"] = {};
        settings.limits[0].overrides[0].maxima = {};
        sharing gate{settings};
        CHECK_FALSE(gate.tenant("red"));
        CHECK_FALSE(gate.group({"ants"}));
        CHECK(gate.tenant("blue"));
    }
}

TEST_CASE("the store counts what has a maximum of the hour or the day, and nothing of each gate's own") {
    limit_rules settings = all_limits();
    SECTION("no maximum") {
        settings.global = {};
        CHECK_FALSE(sharing{settings}.global());
    }
    SECTION("of active series alone") {
        settings.global = {.active = 5};
        CHECK_FALSE(sharing{settings}.global());
    }
    SECTION("of the day alone") {
        settings.global = {.daily = 5};
        CHECK(sharing{settings}.global()->maxima == series_maxima{.daily = 5});
    }
    SECTION("only of those that share") {
        settings.limits[0].maxima = {};
        CHECK_FALSE(sharing{settings}.group({"ants"}));
        settings.limits[0].overrides = {{.group = {{"team", "__overflow__"}}, .maxima = {.hourly = 2}}};
        const auto ants = sharing{settings}.group({"ants"});
        REQUIRE(ants);
        CHECK(ants->maxima == series_maxima{});
        CHECK(ants->overflow_maxima == series_maxima{.hourly = 2});
    }
    SECTION("limits of exempt series and of ignored values") {
        settings.exempt = {selecting("{job=\"api\"}")};
        settings.ignores_labels = true;
        sharing gate{settings};
        CHECK(gate.group({"ants"}, 0));
        CHECK_FALSE(gate.group({"red"}, 1));
        CHECK_FALSE(gate.group({"red"}, 2));
        CHECK(gate.terms().limits.size() == 5);
    }
}

TEST_CASE("what a gate only observes is counted without a maximum") {
    limit_rules settings = all_limits();
    settings.whole_histograms = true;
    const auto enforced = sharing{settings}.all();
    std::set<std::size_t> observed;
    SECTION("altogether") {
        settings.mode = limit_mode::observe;
        observed = {0, 1, 2};
    }
    SECTION("tenants") {
        settings.tenants.mode = limit_mode::observe;
        observed = {1};
    }
    SECTION("a limit") {
        settings.limits[0].mode = limit_mode::observe;
        observed = {2};
    }
    const auto all = sharing{settings}.all();
    for (std::size_t i = 0; i < 3; ++i) {
        shared_budget wanted = enforced[i];
        if (observed.contains(i))
            wanted.maxima = wanted.completions = wanted.overflow_maxima = wanted.overflow_completions = {};
        CHECK(all[i] == wanted);
    }
}

TEST_CASE("a tenant or group that is called __overflow__, or has too long a name, is of those that share") {
    limit_rules settings = all_limits();
    settings.tenants.overrides["__overflow__"] = {.hourly = 5};
    sharing gate{settings};
    const auto others = gate.all();
    const std::string overlong(group_key_bytes_max + 1, 'x');
    const auto name = GENERATE_COPY(std::string{overflow_name}, overlong);
    const auto check = [](const std::optional<shared_budget>& shared, const shared_budget& other) {
        CHECK(shared == shared_budget{.id = other.overflow_id, .limit = other.limit, .maxima = other.overflow_maxima});
    };
    CHECK(others[1].overflow_maxima == series_maxima{.hourly = 5});
    check(gate.tenant(name), others[1]);
    check(gate.group({name}), others[2]);
    check(gate.rules.budget_of({.kind = budget_kind::group}, std::nullopt), others[2]);
    check(gate.rules.budget_of({.kind = budget_kind::tenant, .overflow = true}, "red"), others[1]);
}

TEST_CASE("a budget's number needs no description") {
    limit_rules settings = all_limits();
    sharing gate{settings};
    const auto all = gate.all();
    CHECK(gate.rules.id_of({.kind = budget_kind::global}, "") == all[0].id);
    CHECK(gate.rules.id_of({.kind = budget_kind::tenant}, "red") == all[1].id);
    CHECK(gate.rules.id_of({.kind = budget_kind::tenant}, std::nullopt) == all[1].overflow_id);
    settings.global = settings.tenants.fallback = {};
    sharing unlimited{settings};
    CHECK(unlimited.rules.id_of({.kind = budget_kind::tenant}, "red") == all[1].id);
}

TEST_CASE("histograms may be completed within a margin of each maximum") {
    limit_rules settings = all_limits();
    settings.whole_histograms = true;
    settings.histogram_series_max = 20;
    settings.limits[0].overrides = {{.group = {{"team", "__overflow__"}}, .maxima = {.daily = 1'000}}};
    const auto all = sharing{settings}.all();
    CHECK(all[0].completions == series_maxima{.hourly = 20, .daily = 20});
    CHECK(all[2].completions == series_maxima{.hourly = 20});
    CHECK(all[2].overflow_completions == series_maxima{.daily = 100});
}

TEST_CASE("days are counted if anything has a maximum of the day") {
    for (const auto& [what, change] :
         changes{{"nothing", [](limit_rules&) {}},
                 {"all", [](limit_rules& to) { to.global.daily = 1; }},
                 {"each tenant", [](limit_rules& to) { to.tenants.fallback.daily = 1; }},
                 {"one tenant", [](limit_rules& to) { to.tenants.overrides["red"] = {.daily = 1}; }},
                 {"each group", [](limit_rules& to) { to.limits[0].maxima.daily = 1; }},
                 {"one group, where only observed", [](limit_rules& to) {
                      to.limits[0].overrides = {{.group = {{"team", "ants"}}, .maxima = {.daily = 1}}};
                      to.limits[0].mode = limit_mode::observe;
                  }}}) {
        CAPTURE(what);
        limit_rules settings = all_limits();
        settings.global.daily = settings.tenants.fallback.daily = 0;
        change(settings);
        sharing gate{settings};
        CHECK(gate.rules.with_day() == (what != "nothing"sv));
        CHECK(gate.terms().with_day == (what != "nothing"sv));
    }
}
