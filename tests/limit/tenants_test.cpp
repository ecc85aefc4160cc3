// Budgets of tenants.
#include "limit/explain.hpp"
#include "limit/figures.hpp"
#include "limit/labelled.hpp"
#include "limit/limiter.hpp"
#include "support/catch.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;

namespace {

/// Five an hour and eight a day for everybody, unless said otherwise.
limit_rules five_each() {
    limit_rules settings{.incumbent_grace = std::chrono::seconds{0}};
    settings.tenants.fallback = {.hourly = 5, .daily = 8};
    return settings;
}

batch of(std::string tenant, std::uint64_t first, std::uint64_t count) {
    return {.tenant = std::move(tenant), .first = first, .count = count};
}

}  // namespace

TEST_CASE("every tenant has a budget of its own, the tenant without a name too") {
    labelled_offering gate{five_each(), at(10)};
    for (const char* tenant : {"", "a", "b"})
        CHECK(gate.offer(of(tenant, 0, 7), at(10)) == verdict_counts{.accepted = 5, .refused_hourly = 2});
    CHECK(figures_of(gate.limiter).tenants.size() == 3);
    for (const char* tenant : {"", "a", "b"}) {
        CHECK(gate.hourly(tenant_id(tenant)) == counts{.max = 5, .current = 5, .refused = 2});
        CHECK(gate.daily(tenant_id(tenant)) == counts{.max = 8, .current = 5, .refused = 0});
        CHECK(gate.budget(tenant_id(tenant)).mode == limit_mode::enforce);
    }
    CHECK(gate.hourly() == counts{.current = 15, .refused = 6});
}

TEST_CASE("a tenant's day goes on when its hour begins anew") {
    labelled_offering gate{five_each(), at(10)};
    CHECK(gate.accepted(of("a", 0, 5), at(10)) == 5);
    CHECK(gate.offer(of("a", 0, 9), at(11)) == verdict_counts{.accepted = 5, .refused_hourly = 4});
    CHECK(gate.daily(tenant_id("a")).series_current == 5);
    CHECK(gate.offer(of("a", 5, 9), at(12)) == verdict_counts{.accepted = 3, .refused_daily = 6});
    CHECK(gate.daily(tenant_id("a")) == counts{.current = 8, .refused = 6});
    CHECK(gate.hourly(tenant_id("a")).series_current == 3);
    leap(gate.limiter, at(0, 0, 0, 1));
    CHECK(gate.accepted(of("a", 20, 9), at(0, 0, 0, 1)) == 5);
}

TEST_CASE("an override replaces what the others have, zero takes the limit away") {
    limit_rules settings = five_each();
    settings.tenants.overrides = {{"big", {.hourly = 7, .daily = 0}}, {"free", {}}, {"", {.hourly = 1, .daily = 0}}};
    labelled_offering gate{settings, at(10)};
    CHECK(gate.accepted(of("big", 0, 20), at(10)) == 7);
    CHECK(gate.accepted(of("free", 0, 20), at(10)) == 20);
    CHECK(gate.accepted(of("", 0, 20), at(10)) == 1);
    CHECK(gate.accepted(of("other", 0, 20), at(10)) == 5);
    CHECK(gate.hourly(tenant_id("free")) == counts{.max = 0, .current = 20});
}

TEST_CASE("a series needs room in its tenant's budget and in the global one") {
    limit_rules settings = five_each();
    settings.global.hourly = 8;
    labelled_offering gate{settings, at(10)};
    CHECK(gate.accepted(of("a", 0, 9), at(10)) == 5);
    CHECK(gate.accepted(of("b", 0, 9), at(10)) == 3);
    CHECK(gate.hourly().series_current == 8);
    // The global refusals took nothing from the tenant, and its budget is not what was spent.
    CHECK(gate.hourly(tenant_id("b")) == counts{.current = 3, .refused = 0});
    CHECK(gate.hourly(tenant_id("a")).series_refused == 4);
}

TEST_CASE("tenants beyond the bound share one budget with the limits of the fallback") {
    limit_rules settings = five_each();
    settings.tenants.tenants_max = 2;
    labelled_offering gate{settings, at(10)};
    CHECK(gate.accepted(of("a", 0, 9), at(10)) == 5);
    CHECK(gate.accepted(of("b", 0, 2), at(10)) == 2);
    CHECK_FALSE(gate.has(tenant_overflow));
    CHECK(gate.accepted(of("c", 0, 3), at(10)) == 3);
    CHECK(gate.offer(of("d", 0, 9), at(10)) == verdict_counts{.accepted = 2, .refused_hourly = 7});
    CHECK(gate.accepted(of("c", 3, 9), at(10)) == 0);
    CHECK(gate.accepted(of("b", 2, 9), at(10)) == 3);
    CHECK_FALSE(gate.has(tenant_id("c")));
    CHECK(gate.hourly(tenant_overflow) == counts{.max = 5, .current = 5, .refused = 16});
    const auto overflow = gate.budget(tenant_overflow);
    CHECK(name_of(overflow).tenant == "__overflow__");
    CHECK(name_of(overflow).has_tenant);
}

TEST_CASE("a tenant with an override has its own budget, however many tenants there are") {
    limit_rules settings = five_each();
    settings.tenants.tenants_max = 1;
    settings.tenants.overrides = {{"vip", {.hourly = 6, .daily = 0}}, {"vip-2", {.hourly = 6, .daily = 0}}};
    labelled_offering gate{settings, at(10)};
    CHECK(gate.accepted(of("a", 0, 9), at(10)) == 5);
    CHECK(gate.accepted(of("vip", 0, 9), at(10)) == 6);
    CHECK(gate.accepted(of("vip-2", 0, 9), at(10)) == 6);
    CHECK_FALSE(gate.has(tenant_overflow));
}

TEST_CASE("tenants with an override take no place of those without") {
    limit_rules settings = five_each();
    settings.tenants.tenants_max = 2;
    settings.tenants.overrides = {{"vip", {.hourly = 6, .daily = 0}}, {"vip-2", {.hourly = 6, .daily = 0}}};
    labelled_offering gate{settings, at(10)};
    for (const char* tenant : {"vip", "vip-2", "a", "b", "c"}) gate.offer(of(tenant, 0, 3), at(10));
    CHECK(gate.has(tenant_id("a")));
    CHECK(gate.has(tenant_id("b")));
    CHECK_FALSE(gate.has(tenant_id("c")));
    CHECK(gate.hourly(tenant_overflow).series_current == 3);
}

TEST_CASE("tenants that send no more make room for others") {
    limit_rules settings = five_each();
    settings.tenants.tenants_max = 1;
    labelled_offering gate{settings, at(22)};
    gate.offer(of("a", 0, 3), at(22));
    gate.offer(of("b", 0, 3), at(22));
    CHECK(gate.hourly(tenant_overflow).series_current == 3);
    SECTION("not in the next hour, for the day knows it") {
        gate.offer(of("b", 0, 3), at(23));
        CHECK(gate.hourly(tenant_overflow).series_current == 3);
        CHECK(gate.hourly(tenant_id("a")).series_current == 0);
    }
    SECTION("when the day has ended, too") {
        gate.limiter.maintain(at(23));
        gate.offer(of("b", 0, 3), at(0, 0, 0, 1));
        CHECK(gate.hourly(tenant_id("b")).series_current == 3);
        CHECK_FALSE(gate.has(tenant_id("a")));
        CHECK_FALSE(gate.has(tenant_overflow));
    }
}

TEST_CASE("a tenant that gets nothing in leaves no budget behind") {
    limit_rules settings = five_each();
    settings.global.hourly = 2;
    labelled_offering gate{settings, at(10)};
    gate.offer(of("a", 0, 2), at(10));
    CHECK(gate.accepted(of("b", 0, 5), at(10)) == 0);
    CHECK(gate.accepted({.tenant = "c", .count = 5, .admits = false}, at(10)) == 0);
    CHECK(figures_of(gate.limiter).tenants.size() == 1);
}

TEST_CASE("a tenant with an endless name shares the overflow budget, whatever the bound") {
    labelled_offering gate{five_each(), at(10)};
    const std::string endless(10'000, 'x');
    CHECK(gate.accepted(of(endless, 0, 9), at(10)) == 5);
    CHECK_FALSE(gate.has(tenant_id(endless)));
    CHECK(gate.hourly(tenant_overflow).series_current == 5);
}

TEST_CASE("room is kept for a tenant's incumbents in its own budget") {
    limit_rules settings = five_each();
    settings.incumbent_grace = std::chrono::minutes{10};
    labelled_offering gate{settings, at(10)};
    gate.offer(of("a", 0, 4), at(10));
    gate.offer(of("b", 0, 1), at(10));
    CHECK(gate.accepted(of("a", 100, 5), at(11)) == 1);
    CHECK(gate.accepted(of("b", 100, 5), at(11)) == 4);
    CHECK(gate.accepted(of("a", 0, 4), at(11, 9)) == 4);
    CHECK(gate.accepted(of("b", 0, 1), at(11, 10)) == 1);
    CHECK(gate.hourly(tenant_id("a")).series_current == 5);
    CHECK(gate.hourly(tenant_id("b")).series_current == 5);
}

TEST_CASE("markers pass where no limit applies to the tenant") {
    limit_rules settings = five_each();
    settings.tenants.overrides = {{"free", {}}};
    labelled_offering gate{settings, at(10)};
    CHECK(gate.offer({.tenant = "free", .count = 9, .admits = false}, at(10)) == verdict_counts{.accepted = 9});
    CHECK(gate.offer({.tenant = "a", .count = 9, .admits = false}, at(10)) == verdict_counts{.refused_unknown = 9});
}

TEST_CASE("an explanation names the tenant's budgets without room, those of the hour first") {
    limit_rules settings = five_each();
    settings.tenants.fallback = {.hourly = 5, .daily = 5};
    settings.global.hourly = 5;
    labelled_offering gate{settings, at(10)};
    const batch sent = of("a", 0, 9);
    gate.offer(sent, at(10));
    const offered_series refused{.fingerprint = fingerprint_in(sent, 8), .samples = 1, .admits = true};
    const auto spent = explain(gate.limiter, refused, {}, "a");
    REQUIRE(spent.size() == 3);
    CHECK_FALSE(name_of(spent[0].figures).has_tenant);  // the global one
    CHECK(spent[0].window == refusing_window::hourly);
    CHECK(name_of(spent[1].figures).tenant == "a");
    CHECK(spent[1].window == refusing_window::hourly);
    CHECK(name_of(spent[2].figures).tenant == "a");
    CHECK(spent[2].window == refusing_window::daily);
    CHECK(spent[2].figures.daily == counts{.max = 5, .current = 5});
    CHECK(explain(gate.limiter, refused, {}, "new").size() == 1);
    CHECK(figures_of(gate.limiter).tenants.size() == 1);
}

TEST_CASE("a tenant that is called like the overflow budget counts in it") {
    limit_rules settings = five_each();
    labelled_offering gate{settings, at(10)};
    CHECK(gate.accepted(of("__overflow__", 0, 9), at(10)) == 5);
    CHECK(figures_of(gate.limiter).tenants.size() == 1);
    CHECK(gate.hourly(tenant_overflow).series_current == 5);
}

TEST_CASE("tenants' limits may only watch") {
    limit_rules settings = five_each();
    settings.global.hourly = 12;
    settings.tenants.mode = limit_mode::observe;
    labelled_offering gate{settings, at(10)};
    CHECK(gate.accepted(of("a", 0, 9), at(10)) == 9);
    CHECK(gate.hourly(tenant_id("a")) == counts{.current = 5, .refused = 4});
    CHECK(gate.budget(tenant_id("a")).mode == limit_mode::observe);
    CHECK(gate.accepted(of("b", 0, 9), at(10)) == 3);
    settings.tenants.mode = limit_mode::enforce;
    settings.tenants.fallback = {.hourly = 10, .daily = 0};
    settings.global.hourly = 0;
    gate.limiter.reconfigure(settings);
    CHECK(gate.hourly(tenant_id("a")).series_current == 9);
    CHECK(gate.accepted(of("a", 0, 20), at(10)) == 10);
}

TEST_CASE("what the global budget has refused is told apart from what others have") {
    limit_rules settings = five_each();
    settings.global.hourly = 7;
    labelled_offering gate{settings, at(10)};
    gate.offer(of("a", 0, 8), at(10));
    gate.offer(of("b", 100, 4), at(10));
    const limiter_figures figures = figures_of(gate.limiter);
    CHECK(figures.hourly.series_refused == 5);
    CHECK(figures.global.mode == limit_mode::enforce);
    CHECK(figures.global.hourly == counts{.max = 7, .current = 7, .refused = 2});
    CHECK(figures.global.daily == counts{.max = 0, .current = 7});
}

TEST_CASE("figures tell of the room that is kept for incumbents") {
    limit_rules settings = five_each();
    settings.incumbent_grace = std::chrono::minutes{10};
    labelled_offering gate{settings, at(10)};
    gate.offer(of("a", 0, 4), at(10, 30));
    gate.offer(of("a", 0, 1), at(11));
    CHECK(gate.hourly(tenant_id("a")) == counts{.current = 1, .reserved = 3});
    CHECK(figures_of(gate.limiter).global.hourly.series_reserved == 3);
    gate.offer(of("a", 0, 1), at(11, 10));
    CHECK(gate.hourly(tenant_id("a")).series_reserved == 0);
}
