// Other limits while running, as far as the random reloads of budgets_model_test.cpp do not have them.
#include "limit/figures.hpp"

#include "limit/labelled.hpp"
#include "limit/snapshot_bytes.hpp"
#include "support/catch.hpp"

namespace seriesgate::testing::reconfigure_test {
namespace {

limit_rules base(std::uint64_t hourly_max = 0) {
    return {.global = {.hourly = hourly_max}, .incumbent_grace = std::chrono::seconds{0}};
}

label_limit per_namespace(std::uint64_t hourly) {
    return limit_named("per-namespace", {"namespace"}, {.hourly = hourly, .daily = 0});
}

limit_rules limited(const label_limit& limit) {
    return {.incumbent_grace = 0s, .limits = {limit}};
}

const budget_id shop{.limit = "per-namespace", .group = {{"namespace", "shop"}}};

/// With a grace.
limit_rules with_limit(std::uint64_t groups_max = 10'000) {
    limit_rules settings{.limits = {per_namespace(10)}};
    settings.limits[0].groups_max = groups_max;
    return settings;
}

}  // namespace

TEST_CASE("counts stay with name, labels and whether the budgets are the tenants' own") {
    label_limit limit = per_namespace(5);
    labelled_offering gate{limited(limit), at(10)};
    gate.offer(in("shop", 0, 5, "a"), at(10));
    const auto room_after = [&](const label_limit& changed) {
        gate.limiter.reconfigure(limited(changed));
        return gate.accepted(in("shop", 100, 9, "a"), at(10));
    };
    SECTION("another selector, maximum, mode or bound keeps them") {
        limit.match = selecting("{namespace!=\"\"}");
        limit.maxima.hourly = 6;
        limit.groups_max = 7;
        CHECK(room_after(limit) == 1);
        CHECK(gate.hourly(shop).series_current == 6);
    }
    SECTION("another name begins anew") {
        limit.name = "renamed";
        CHECK(room_after(limit) == 5);
        CHECK_FALSE(gate.has(shop));
    }
    SECTION("the same labels in another order begin anew") {
        limit.each = {"namespace", "job"};
        gate.limiter.reconfigure(limited(limit));
        gate.offer(in("shop", 50, 5, "a"), at(10));
        limit.each = {"job", "namespace"};
        CHECK(room_after(limit) == 5);
    }
}

TEST_CASE("a group in the overflow budget gets its own with an override, and counts from then on") {
    label_limit limit = per_namespace(5);
    limit.groups_max = 1;
    labelled_offering gate{limited(limit), at(10)};
    gate.offer(in("first", 0, 1), at(10));
    gate.offer(in("shop", 0, 5), at(10));
    CHECK(gate.hourly(overflow_of("per-namespace")).series_current == 5);
    limit.overrides = {{.group = {{"namespace", "shop"}}, .maxima = {.hourly = 7, .daily = 0}}};
    gate.limiter.reconfigure(limited(limit));
    CHECK(gate.accepted(in("shop", 0, 20), at(10)) == 12);
    CHECK(gate.hourly(shop).series_current == 7);
    CHECK(gate.hourly(overflow_of("per-namespace")).series_current == 5);
    SECTION("and keeps it when the override goes, with the limit of the others") {
        limit.overrides.clear();
        gate.limiter.reconfigure(limited(limit));
        CHECK(gate.hourly(shop) == tally{.max = 5, .current = 7});
    }
}

TEST_CASE("a lower bound takes no budget away") {
    limit_rules settings = base();
    settings.tenants.fallback = {.hourly = 5, .daily = 0};
    settings.limits = {per_namespace(5)};
    labelled_offering gate{settings, at(10)};
    for (const char* name : {"a", "b", "c"}) gate.offer(in(name, 0, 4, name), at(10));
    settings.tenants.tenants_max = 1;
    settings.limits[0].groups_max = 1;
    gate.limiter.reconfigure(settings);
    for (const char* name : {"a", "b", "c"}) CHECK(gate.accepted(in(name, 100, 9, name), at(10)) == 1);
    CHECK(gate.accepted(in("d", 0, 3, "d"), at(10)) == 3);
    CHECK(gate.hourly(tenant_overflow).series_current == 3);
    CHECK(gate.hourly(overflow_of("per-namespace")).series_current == 3);
}

TEST_CASE("a new false-positive rate holds from the next window on") {
    limit_rules settings = base();
    labelled_offering gate{settings, at(22)};
    const auto bytes = gate.hourly().filter_bytes;
    settings.false_positive_rate = 1e-8;
    gate.limiter.reconfigure(settings);
    gate.limiter.maintain(at(22));
    CHECK(gate.hourly().filter_bytes == bytes);
    CHECK(gate.daily().filter_bytes == bytes);
    const labelled_offering stricter{settings, at(22)};
    gate.limiter.maintain(at(23));
    CHECK(gate.hourly().filter_bytes == stricter.hourly().filter_bytes);
    CHECK(gate.daily().filter_bytes == bytes);
    gate.limiter.maintain(at(0, 0, 0, 1));
    CHECK(gate.daily().filter_bytes == stricter.daily().filter_bytes);
}

// Incumbents of budgets that did not count them in the hour before: a limit that a reload has made or changed, a group
// that shared the overflow budget. Through the grace no newcomer takes what a series of the hour before needs.

TEST_CASE("a limit added over healthy series keeps their room through the next grace") {
    labelled_offering gate{{}, at(10)};
    gate.offer(in("x", 0, 8), at(10));
    SECTION("by a reload") {
        gate.limiter.reconfigure(with_limit());
        CHECK(gate.accepted(in("x", 1'000, 100), at(11)) == 0);
        CHECK(gate.accepted(in("x", 0, 8), at(11, 1)) == 8);
        CHECK(gate.accepted(in("x", 1'000, 100), at(11, 2)) == 0);
        CHECK(gate.accepted(in("x", 1'000, 100), at(11, 10)) == 2);
        // In the next hour it knows them all.
        CHECK(gate.accepted(in("x", 2'000, 100), at(12)) == 0);
        CHECK(gate.accepted(in("x", 0, 8), at(12)) == 8);
    }
    SECTION("by a reload and a restart, or by a restart alone") {
        if (GENERATE(true, false)) gate.limiter.reconfigure(with_limit());
        restarted<labelled_offering> again{with_limit(), saved(gate.limiter), at(10, 30)};
        CHECK(again.accepted(in("x", 1'000, 100), at(11)) == 0);
        CHECK(again.accepted(in("x", 0, 8), at(11, 1)) == 8);
    }
}

TEST_CASE("series that are exempt no more keep their places in every budget") {
    limit_rules settings{.global = {.hourly = 10}};
    settings.exempt.push_back(selecting("{namespace=\"x\"}"));
    labelled_offering gate{settings, at(10)};
    gate.offer(in("x", 0, 8), at(10));
    settings.exempt.clear();
    gate.limiter.reconfigure(settings);
    CHECK(gate.accepted(in("z", 1'000, 100), at(11)) == 0);
    CHECK(gate.accepted(in("x", 0, 8), at(11, 1)) == 8);
    SECTION("when the grace is over what is left is free") {
        CHECK(gate.accepted(in("z", 1'000, 100), at(11, 10)) == 2);
    }
    SECTION("in the next hour it knows them all") {
        CHECK(gate.accepted(in("z", 1'000, 100), at(12)) == 2);
        CHECK(gate.accepted(in("x", 0, 8), at(12, 1)) == 8);
    }
}

TEST_CASE("a group that leaves the overflow budget keeps its room") {
    labelled_offering gate{with_limit(1), at(22)};
    gate.offer(in("first", 0, 1), at(22));
    gate.offer(in("x", 0, 8), at(23));  // shares
    REQUIRE(gate.has(overflow_of("per-namespace")));
    // Because there are more places, or because its place has become free.
    if (GENERATE(true, false)) gate.limiter.reconfigure(with_limit(100));
    CHECK(gate.accepted(in("x", 1'000, 100), at(0, 0, 0, 1)) == 0);
    CHECK(gate.accepted(in("x", 0, 8), at(0, 1, 0, 1)) == 8);
    CHECK(gate.has({.limit = "per-namespace", .group = {{"namespace", "x"}}}));
}

}  // namespace seriesgate::testing::reconfigure_test
