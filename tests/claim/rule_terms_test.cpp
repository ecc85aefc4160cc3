// What of its rules a gate tells its store.
#include "claim/rule_terms.hpp"

#include <functional>
#include <set>

#include "claim/asking.hpp"
#include "support/catch.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;

namespace {

using change = std::function<void(limit_rules&)>;

limit_rules some_rules() {
    limit_rules made{.global = {.hourly = 100}};
    made.tenants.fallback = {.hourly = 50};
    made.tenants.overrides["red"] = {.hourly = 5};
    made.limits.push_back(limit_each("teams", "team", {.hourly = 10}));
    made.limits[0].match = selecting("{job=\"api\"}");
    made.limits[0].overrides = {{.group = {{"team", "ants"}}, .maxima = {.hourly = 3}}};
    made.exempt.push_back(selecting("{job=\"cron\"}"));
    return made;
}

std::uint64_t identity_after(const change& made) {
    limit_rules rules = some_rules();
    made(rules);
    return rules_identity(compiled_rules{rules});
}

const std::uint64_t identity = identity_after([](limit_rules&) {});

}  // namespace

TEST_CASE("the same rules have the same identity, in every process") {
    CHECK(identity_after([](limit_rules&) {}) == identity);
    CHECK(identity == 0x86b5981f03b6d595);
}

TEST_CASE("larger or smaller maxima, and what senders are told, do not change the identity of rules") {
    const change all[] = {
        [](limit_rules& of) { of.global.hourly = 1; },
        [](limit_rules& of) { of.tenants.fallback.hourly = 1; },
        [](limit_rules& of) { of.tenants.overrides["red"].hourly = 1; },
        [](limit_rules& of) { of.limits[0].maxima.hourly = 1; },
        [](limit_rules& of) { of.limits[0].overrides[0].maxima.hourly = 1; },
        [](limit_rules& of) { of.false_positive_rate = 1e-6; },
        [](limit_rules& of) { of.tenants.answer = limit_answer::reject; },
        [](limit_rules& of) { of.tenants.answers["red"] = limit_answer::reject; },
        [](limit_rules& of) { of.limits[0].answer = limit_answer::reject; },
    };
    for (const change& each : all) CHECK(identity_after(each) == identity);
}

TEST_CASE("what counts series in other budgets changes the identity of rules") {
    const change all[] = {
        [](limit_rules& of) { of.global.hourly = 0; },
        [](limit_rules& of) { of.global.daily = 1; },
        [](limit_rules& of) { of.incumbent_grace = std::chrono::seconds{1}; },
        [](limit_rules& of) { of.mode = limit_mode::observe; },
        [](limit_rules& of) { of.tenants.mode = limit_mode::observe; },
        [](limit_rules& of) { of.tenants.fallback.hourly = 0; },
        [](limit_rules& of) { of.tenants.fallback.daily = 1; },
        [](limit_rules& of) { of.tenants.tenants_max = 9; },
        [](limit_rules& of) { of.tenants.overrides.clear(); },
        [](limit_rules& of) { of.tenants.overrides["red"].hourly = 0; },
        [](limit_rules& of) { of.tenants.overrides["red"].daily = 1; },
        [](limit_rules& of) { of.tenants.overrides["blue"] = {.hourly = 5}; },
        [](limit_rules& of) { of.limits.clear(); },
        [](limit_rules& of) { of.limits.push_back(limit_each("jobs", "job", {.hourly = 1})); },
        [](limit_rules& of) { of.limits[0].name = "crews"; },
        [](limit_rules& of) { of.limits[0].match = selecting("{job=\"batch\"}"); },
        [](limit_rules& of) { of.limits[0].match = std::nullopt; },
        [](limit_rules& of) { of.limits[0].groups_max = 9; },
        [](limit_rules& of) { of.limits[0].maxima = {}; },
        [](limit_rules& of) { of.limits[0].maxima.daily = 1; },
        [](limit_rules& of) { of.limits[0].mode = limit_mode::observe; },
        [](limit_rules& of) { of.limits[0].per_tenant = true; },
        [](limit_rules& of) { of.limits[0].overrides.clear(); },
        [](limit_rules& of) { of.limits[0].overrides[0].group[0].second = "bees"; },
        [](limit_rules& of) { of.limits[0].overrides[0].maxima.hourly = 0; },
        [](limit_rules& of) { of.limits[0].overrides[0].maxima.daily = 1; },
        [](limit_rules& of) {
            of.limits[0].overrides.clear();
            of.limits[0].each = {"crew"};
        },
        [](limit_rules& of) { of.exempt.clear(); },
        [](limit_rules& of) { of.exempt.push_back(selecting("{job=\"api\"}")); },
    };
    std::set<std::uint64_t> seen{identity};
    for (std::size_t i = 0; i < std::size(all); ++i) {
        CAPTURE(i);
        CHECK(seen.insert(identity_after(all[i])).second);  // nor are any two of these the same
    }
}

TEST_CASE("the day is asked for if an enforced limit has a maximum of it") {
    const auto with_day = [](const change& made) {
        limit_rules rules = some_rules();
        made(rules);
        return terms_of(compiled_rules{rules}).with_day;
    };
    CHECK_FALSE(with_day([](limit_rules&) {}));
    CHECK(with_day([](limit_rules& of) { of.global.daily = 1; }));
    CHECK(with_day([](limit_rules& of) { of.tenants.fallback.daily = 1; }));
    CHECK(with_day([](limit_rules& of) { of.tenants.overrides["red"].daily = 1; }));
    CHECK(with_day([](limit_rules& of) { of.limits[0].maxima.daily = 1; }));
    CHECK(with_day([](limit_rules& of) { of.limits[0].overrides[0].maxima.daily = 1; }));
    CHECK_FALSE(with_day([](limit_rules& of) {
        of.global.daily = 1;
        of.mode = limit_mode::observe;
    }));
    CHECK_FALSE(with_day([](limit_rules& of) {
        of.tenants.fallback.daily = 1;
        of.tenants.mode = limit_mode::observe;
    }));
    CHECK_FALSE(with_day([](limit_rules& of) {
        of.limits[0].maxima.daily = 1;
        of.limits[0].mode = limit_mode::observe;
    }));
}

TEST_CASE("a new window has room for what the global limit lets come, if nothing comes beside it") {
    limit_rules rules{.global = {.hourly = 100, .daily = 300}, .incumbent_grace = std::chrono::seconds{90}};
    const claim_terms terms = terms_of(compiled_rules{rules});
    CHECK(terms.room == 100);
    CHECK(terms.day_room == 300);
    CHECK(terms.grace == 90);
    CHECK(terms.rules == rules_identity(compiled_rules{rules}));
    CHECK(terms.hour == 0);
    CHECK(terms.buckets == bucket_counts{});
    rules.exempt.push_back(selecting("{job=\"cron\"}"));
    CHECK(terms_of(compiled_rules{rules}).room == 0);
    CHECK(terms_of(compiled_rules{rules}).day_room == 0);
}
