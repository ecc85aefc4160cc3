// A snapshot taken under one set of rules, restored under another.
#include "limit/figures.hpp"
#include "limit/labelled.hpp"
#include "limit/snapshot_bytes.hpp"
#include "support/catch.hpp"

namespace seriesgate::testing::snapshot_rules_test {
namespace {

/// Ten a tenant, six a namespace.
limit_rules before() {
    limit_rules settings{.incumbent_grace = std::chrono::minutes{10}};
    settings.tenants.fallback = {.hourly = 10, .daily = 0};
    settings.limits = {limit_named("per-namespace", {"namespace"}, {.hourly = 6, .daily = 0})};
    return settings;
}

budget_id group(std::string space) {
    return {.limit = "per-namespace", .group = {{"namespace", std::move(space)}}};
}

/// Three tenants in three namespaces with 3, 4 and 5 series.
void send(labelled_offering& gate, time_point now) {
    gate.offer(in("x", 0, 3, "a"), now);
    gate.offer(in("y", 0, 4, "b"), now);
    gate.offer(in("z", 0, 5, "c"), now);
}

std::string saved_under(const limit_rules& settings) {
    labelled_offering gate{settings, at(10)};
    send(gate, at(10));
    gate.offer(in("z", 50, 4, "a"), at(10));  // three of them are refused by "z"
    return saved(gate.limiter);
}

}  // namespace

TEST_CASE("a limit that is gone leaves nothing, and the others keep their counts") {
    limit_rules settings = before();
    settings.limits.clear();
    restarted<labelled_offering> gate{settings, saved_under(before()), at(10)};
    CHECK(figures_of(gate.limiter).limits.empty());
    CHECK(gate.hourly(tenant_id("a")).series_current == 4);
    CHECK(gate.hourly(tenant_id("c")).series_current == 5);
    CHECK(gate.hourly().series_current == 13);
    CHECK(gate.accepted(in("z", 0, 20, "c"), at(10)) == 10);
}

TEST_CASE("a limit with another name, other labels or in the tenants' hands counts from zero") {
    limit_rules settings = before();
    settings.limits[0].groups_max = 5;
    SECTION("name") {
        settings.limits[0].name = "renamed";
    }
    SECTION("labels") {
        settings.limits[0].each = {"job"};
    }
    SECTION("hands") {
        settings.limits[0].per_tenant = true;
    }
    restarted<labelled_offering> gate{settings, saved_under(before()), at(10)};
    CHECK(figures_of(gate.limiter).limits.empty());
    CHECK(gate.accepted(in("z", 0, 20, "b"), at(10)) == 6);
    CHECK(gate.accepted(in("z", 0, 5, "c"), at(10)) == 5);
    CHECK(gate.hourly().series_current == 19);
}

TEST_CASE("a limit that is new counts from now, wherever it stands") {
    limit_rules settings = before();
    settings.limits.insert(settings.limits.begin(), limit_named("all", {}, {.hourly = 2, .daily = 0}));
    restarted<labelled_offering> gate{settings, saved_under(before()), at(10)};
    CHECK_FALSE(gate.has({.limit = "all"}));
    CHECK(gate.hourly(group("z")) == tally{.current = 6, .refused = 3});
    CHECK(gate.offer(in("x", 0, 10, "a"), at(10)) == verdict_counts{.accepted = 5, .refused_hourly = 5});
}

TEST_CASE("other maxima hold at once") {
    limit_rules settings = before();
    settings.tenants.overrides = {{"b", {.hourly = 5, .daily = 0}}};
    settings.limits[0].maxima.hourly = 4;
    restarted<labelled_offering> gate{settings, saved_under(before()), at(10)};
    CHECK(gate.hourly(group("z")) == tally{.max = 4, .current = 6});
    CHECK(gate.offer(in("z", 0, 9, "c"), at(10)) == verdict_counts{.accepted = 5, .refused_hourly = 4});
    CHECK(gate.offer(in("w", 0, 9, "b"), at(10)) == verdict_counts{.accepted = 1, .refused_hourly = 8});
}

TEST_CASE("tenants and groups that have to share the overflow budget now are added up in it") {
    limit_rules settings = before();
    SECTION("tenants") {
        settings.tenants.tenants_max = 1;
        restarted<labelled_offering> gate{settings, saved_under(before()), at(10)};
        // Which of them keeps its own is not said.
        const auto figures = figures_of(gate.limiter);
        REQUIRE(figures.tenants.size() == 2);
        CHECK(figures.tenants[0].hourly.series_current + figures.tenants[1].hourly.series_current == 13);
        CHECK(gate.hourly(tenant_overflow).series_current >= 8);
        // In the next hour room is kept in it for all of them.
        const auto kept = std::min<std::uint64_t>(10, gate.hourly(tenant_overflow).series_current);
        CHECK(gate.accepted(in("v", 0, 6, "d"), at(11)) == 10 - kept);
    }
    SECTION("groups") {
        settings.limits[0].groups_max = 1;
        settings.limits[0].maxima.hourly = 20;
        restarted<labelled_offering> gate{settings, saved_under(before()), at(10)};
        const auto figures = figures_of(gate.limiter);
        REQUIRE(figures.limits.size() == 2);
        CHECK(figures.limits[0].hourly.series_current + figures.limits[1].hourly.series_current == 13);
        CHECK(figures.limits[0].hourly.series_refused + figures.limits[1].hourly.series_refused == 3);
    }
    SECTION("all of them, and those that shared it before") {
        limit_rules shared = before();
        shared.tenants.tenants_max = 2;
        const std::string bytes = saved_under(shared);  // "c" is in the overflow budget, with 5
        settings.tenants.tenants_max = 0;
        restarted<labelled_offering> gate{settings, bytes, at(10)};
        CHECK(figures_of(gate.limiter).tenants.size() == 1);
        CHECK(gate.hourly(tenant_overflow).series_current == 13);
        CHECK(gate.daily(tenant_overflow).series_current == 13);
    }
}

TEST_CASE("refusals are added up in the overflow budget, too") {
    limit_rules settings = before();
    settings.tenants.fallback = {.hourly = 2, .daily = 0};
    labelled_offering gate{settings, at(10)};
    const auto refuse = [&](std::string tenant, std::uint64_t count) {
        gate.offer({.tenant = std::move(tenant), .labels = {{"namespace", "t"}}, .count = 2 + count}, at(10));
    };
    settings.limits.clear();
    gate.limiter.reconfigure(settings);
    refuse("a", 3);
    refuse("b", 4);
    refuse("c", 1'000);
    settings.tenants.tenants_max = 0;
    restarted<labelled_offering> other{settings, saved(gate.limiter), at(10)};
    CHECK(other.hourly(tenant_overflow).series_current == 6);
    CHECK(other.hourly(tenant_overflow).series_refused >= 980);
    CHECK(other.hourly(tenant_overflow).series_refused <= 1'034);
}

TEST_CASE("a restart leaves every tenant and group its own budget, overrides or not, at the bound") {
    limit_rules settings = before();
    settings.tenants.tenants_max = 4;
    settings.tenants.overrides.clear();
    settings.limits[0].groups_max = 4;
    for (int i = 0; i < 8; ++i) {
        const std::string vip = "vip-" + std::to_string(i);
        settings.tenants.overrides.emplace(vip, series_maxima{.hourly = 9, .daily = 0});
        settings.limits[0].overrides.push_back({.group = {{"namespace", vip}}, .maxima = {.hourly = 9, .daily = 0}});
    }
    labelled_offering gate{settings, at(10)};
    for (const char* name : {"a", "b", "c", "d"}) gate.offer(in(name, 0, 2, name), at(10));
    for (const auto& [name, maxima] : settings.tenants.overrides) gate.offer(in(name, 0, 2, name), at(10));
    REQUIRE_FALSE(gate.has(tenant_overflow));
    restarted<labelled_offering> other{settings, saved(gate.limiter), at(10)};
    CHECK_FALSE(other.has(tenant_overflow));
    CHECK_FALSE(other.has(overflow_of("per-namespace")));
    for (const char* name : {"a", "b", "c", "d", "vip-0", "vip-7"}) {
        CHECK(other.has(tenant_id(name)));
        CHECK(other.has(group(name)));
    }
}

TEST_CASE("an observed limit's series beyond its maximum are counted when it is restored with a higher one") {
    limit_rules settings{.incumbent_grace = std::chrono::seconds{0}};
    label_limit watch = limit_named("watch", {}, {.hourly = 5, .daily = 6});
    watch.mode = limit_mode::observe;
    settings.limits = {watch};
    labelled_offering gate{settings, at(10)};
    gate.offer({.count = 9}, at(10));
    settings.limits[0].maxima = {.hourly = 7, .daily = 0};
    restarted<labelled_offering> other{settings, saved(gate.limiter), at(10)};
    CHECK(other.hourly({.limit = "watch"}).series_current == 7);
    CHECK(other.daily({.limit = "watch"}).series_current == 9);
}

TEST_CASE("what the windows show right after a restart is by the rules that are in force now") {
    limit_rules settings{.global = {.hourly = 5}, .mode = limit_mode::observe};
    labelled_offering gate{settings, at(10)};
    gate.offer({.count = 9}, at(10));
    settings.global.hourly = 7;
    restarted<labelled_offering> other{settings, saved(gate.limiter), at(10)};
    CHECK(figures_of_windows(other.limiter).hourly.series_max == 7);
    CHECK(figures_of_windows(other.limiter).hourly.series_current == 7);
}

}  // namespace seriesgate::testing::snapshot_rules_test
