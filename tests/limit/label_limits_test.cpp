// Limits over label groups, and all budgets together.
#include "limit/figures.hpp"
#include "limit/labelled.hpp"
#include "support/catch.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;

namespace label_limits_test {
namespace {

limit_rules settings_of(std::vector<label_limit> limits) {
    limit_rules settings{.incumbent_grace = std::chrono::seconds{0}};
    settings.limits = std::move(limits);
    return settings;
}

label_limit five_per_namespace() {
    return limit_named("per-namespace", {"namespace"}, {.hourly = 5, .daily = 0});
}

batch in(std::string space, std::uint64_t first, std::uint64_t count, std::string tenant = {}) {
    return {.tenant = std::move(tenant), .labels = {{"namespace", std::move(space)}}, .first = first, .count = count};
}

budget_id group(std::string space, std::string tenant = {}) {
    return {.limit = "per-namespace", .tenant = std::move(tenant), .group = {{"namespace", std::move(space)}}};
}

}  // namespace

TEST_CASE("every value of a label has a budget of its own") {
    labelled_offering gate{settings_of({five_per_namespace()}), at(10)};
    CHECK(gate.offer(in("shop", 0, 9), at(10)) == verdict_counts{.accepted = 5, .refused_hourly = 4});
    CHECK(gate.accepted(in("bank", 0, 3), at(10)) == 3);
    CHECK(gate.hourly(group("shop")) == counts{.max = 5, .current = 5, .refused = 4});
    CHECK(gate.hourly(group("bank")) == counts{.current = 3, .refused = 0});
    CHECK(figures_of(gate.limiter).limits.size() == 2);
    CHECK(gate.accepted(in("shop", 0, 9), at(11)) == 5);
}

TEST_CASE("series without the label, or with an empty one, are one group") {
    labelled_offering gate{settings_of({five_per_namespace()}), at(10)};
    CHECK(gate.accepted({.labels = {{"job", "x"}}, .count = 3}, at(10)) == 3);
    CHECK(gate.accepted(in("", 0, 9), at(10)) == 2);
    CHECK(gate.hourly(group("")).series_current == 5);
}

TEST_CASE("a limit without labels has one budget for all that match") {
    label_limit limit = limit_named("paths", {}, {.hourly = 5, .daily = 0});
    limit.match = selecting("{job=\"web\"}");
    labelled_offering gate{settings_of({limit}), at(10)};
    const auto web = [](std::string pod) {
        return batch{.labels = {{"job", "web"}, {"pod", std::move(pod)}}, .count = 3};
    };
    CHECK(gate.accepted(web("a"), at(10)) == 3);
    CHECK(gate.accepted(web("b"), at(10)) == 2);
    CHECK(gate.accepted({.labels = {{"job", "other"}}, .count = 9}, at(10)) == 9);
    CHECK(gate.hourly({.limit = "paths"}).series_current == 5);
    CHECK(gate.hourly().series_current == 14);
}

TEST_CASE("every combination of values has a budget of its own") {
    labelled_offering gate{settings_of({limit_named("pairs", {"job", "namespace"}, {.hourly = 2, .daily = 0})}),
                           at(10)};
    for (const char* job : {"x", "y"})
        for (const char* space : {"a", "b"})
            CHECK(gate.accepted({.labels = {{"job", job}, {"namespace", space}}, .count = 3}, at(10)) == 2);
    CHECK(figures_of(gate.limiter).limits.size() == 4);
    CHECK(gate.hourly({.limit = "pairs", .group = {{"job", "y"}, {"namespace", "a"}}}).series_current == 2);
}

TEST_CASE("values that would read the same when joined are different groups") {
    labelled_offering gate{settings_of({limit_named("pairs", {"a", "b"}, {.hourly = 2, .daily = 0})}), at(10)};
    CHECK(gate.accepted({.labels = {{"a", "xy"}, {"b", "z"}}, .count = 3}, at(10)) == 2);
    CHECK(gate.accepted({.labels = {{"a", "x"}, {"b", "yz"}}, .count = 3}, at(10)) == 2);
    CHECK(gate.accepted({.labels = {{"a", "xyz"}}, .count = 3}, at(10)) == 2);
    CHECK(gate.accepted({.labels = {{"b", "xyz"}}, .count = 3}, at(10)) == 2);
}

TEST_CASE("tenants share a group unless it is the tenants' own") {
    label_limit limit = five_per_namespace();
    SECTION("shared") {
        labelled_offering gate{settings_of({limit}), at(10)};
        CHECK(gate.accepted(in("shop", 0, 3, "a"), at(10)) == 3);
        CHECK(gate.accepted(in("shop", 0, 3, "b"), at(10)) == 2);
        CHECK(gate.hourly(group("shop")).series_current == 5);
    }
    SECTION("their own") {
        limit.per_tenant = true;
        labelled_offering gate{settings_of({limit}), at(10)};
        CHECK(gate.accepted(in("shop", 0, 9, "a"), at(10)) == 5);
        CHECK(gate.accepted(in("shop", 0, 4, "b"), at(10)) == 4);
        CHECK(gate.hourly(group("shop", "a")).series_current == 5);
        CHECK(gate.hourly(group("shop", "b")).series_current == 4);
    }
    SECTION("their own, with an override for the group of everybody") {
        limit.per_tenant = true;
        limit.overrides = {{.group = {{"namespace", "shop"}}, .maxima = {.hourly = 7, .daily = 0}}};
        labelled_offering gate{settings_of({limit}), at(10)};
        CHECK(gate.accepted(in("shop", 0, 9, "a"), at(10)) == 7);
        CHECK(gate.accepted(in("shop", 0, 9, "b"), at(10)) == 7);
        CHECK(gate.accepted(in("bank", 0, 9, "b"), at(10)) == 5);
    }
}

TEST_CASE("an override gives a group other limits") {
    label_limit limit = five_per_namespace();
    limit.overrides = {{.group = {{"namespace", "big"}}, .maxima = {.hourly = 7, .daily = 0}},
                       {.group = {{"namespace", ""}}, .maxima = {}}};
    labelled_offering gate{settings_of({limit}), at(10)};
    CHECK(gate.accepted(in("big", 0, 9), at(10)) == 7);
    CHECK(gate.accepted(in("", 0, 9), at(10)) == 9);
    CHECK(gate.accepted(in("shop", 0, 9), at(10)) == 5);
}

TEST_CASE("groups beyond the bound share one budget") {
    label_limit limit = five_per_namespace();
    limit.groups_max = 2;
    limit.overrides = {{.group = {{"namespace", "vip"}}, .maxima = {.hourly = 7, .daily = 0}}};
    labelled_offering gate{settings_of({limit}), at(10)};
    CHECK(gate.accepted(in("a", 0, 9), at(10)) == 5);
    CHECK(gate.accepted(in("b", 0, 2), at(10)) == 2);
    CHECK(gate.accepted(in("c", 0, 3), at(10)) == 3);
    CHECK(gate.offer(in("d", 0, 9), at(10)) == verdict_counts{.accepted = 2, .refused_hourly = 7});
    CHECK(gate.accepted(in("b", 2, 9), at(10)) == 3);
    CHECK(gate.accepted(in("vip", 0, 9), at(10)) == 7);  // an override always has its own
    CHECK(gate.hourly(overflow_of("per-namespace")) == counts{.current = 5, .refused = 7});
    const auto overflow = gate.budget(overflow_of("per-namespace"));
    CHECK(name_of(overflow).group == group_labels{{"namespace", "__overflow__"}});
}

TEST_CASE("groups that have gone make room for others") {
    label_limit limit = five_per_namespace();
    limit.groups_max = 1;
    labelled_offering gate{settings_of({limit}), at(23)};
    gate.offer(in("a", 0, 3), at(23));
    gate.offer(in("b", 0, 3), at(23));
    CHECK(gate.hourly(overflow_of("per-namespace")).series_current == 3);
    gate.offer(in("b", 0, 3), at(0, 0, 0, 1));  // "a" counted in the hour that has ended, so it is still there
    CHECK(gate.hourly(overflow_of("per-namespace")).series_current == 3);
    gate.offer(in("c", 0, 3), at(1, 0, 0, 1));
    CHECK(gate.hourly(group("c")).series_current == 3);
    CHECK_FALSE(gate.has(group("a")));
}

TEST_CASE("a group with endless values shares the overflow budget, whatever the bound") {
    labelled_offering gate{settings_of({five_per_namespace()}), at(10)};
    const std::string endless(10'000, 'x');
    CHECK(gate.accepted(in(endless, 0, 9), at(10)) == 5);
    CHECK(gate.hourly(overflow_of("per-namespace")).series_current == 5);
}

TEST_CASE("five budgets apply, and a series takes from all or from none") {
    label_limit namespaces = five_per_namespace();
    namespaces.maxima = {.hourly = 6, .daily = 7};
    const label_limit jobs = limit_named("per-job", {"job"}, {.hourly = 4, .daily = 0});
    const label_limit all = limit_named("all", {}, {.hourly = 5, .daily = 0});
    limit_rules settings = settings_of({namespaces, jobs, all});
    settings.global.hourly = 8;
    settings.tenants.fallback = {.hourly = 7, .daily = 0};
    labelled_offering gate{settings, at(10)};
    const auto sent = [](std::string job, std::uint64_t count) {
        return batch{.tenant = "a", .labels = {{"job", std::move(job)}, {"namespace", "shop"}}, .count = count};
    };
    const auto currents = [&] {
        return std::vector{gate.hourly().series_current, gate.hourly(tenant_id("a")).series_current,
                           gate.hourly(group("shop")).series_current,
                           gate.hourly({.limit = "per-job", .group = {{"job", "x"}}}).series_current,
                           gate.hourly({.limit = "all"}).series_current};
    };
    CHECK(gate.offer(sent("x", 9), at(10)) == verdict_counts{.accepted = 4, .refused_hourly = 5});
    CHECK(currents() == std::vector<std::uint64_t>{4, 4, 4, 4, 4});
    CHECK(gate.offer(sent("y", 9), at(10)) == verdict_counts{.accepted = 1, .refused_hourly = 8});
    CHECK(currents() == std::vector<std::uint64_t>{5, 5, 5, 4, 5});
    CHECK(gate.hourly({.limit = "all"}).series_refused == 8);
    CHECK(gate.hourly({.limit = "per-job", .group = {{"job", "x"}}}).series_refused == 5);
    CHECK(gate.hourly(group("shop")).series_refused == 0);
    // In the next hour five come back; the day's budget of the namespace is what new ones find spent.
    CHECK(gate.offer(sent("x", 4), at(11)) == verdict_counts{.accepted = 4});
    CHECK(gate.offer(sent("z", 1), at(11)) == verdict_counts{.accepted = 1});
    CHECK(gate.offer(sent("x", 4), at(12)) == verdict_counts{.accepted = 4});
    CHECK(gate.daily(group("shop")).series_current == 6);
    CHECK(gate.accepted(sent("v", 1), at(12)) == 1);
    CHECK(gate.offer(sent("w", 1), at(13)) == verdict_counts{.refused_daily = 1});
    CHECK(gate.hourly(tenant_id("a")).series_current == 0);
    CHECK(gate.daily(group("shop")) == counts{.current = 7, .refused = 1});
}

TEST_CASE("room is kept for a group's incumbents") {
    limit_rules settings = settings_of({five_per_namespace()});
    settings.incumbent_grace = std::chrono::minutes{10};
    labelled_offering gate{settings, at(10)};
    gate.offer(in("shop", 0, 4), at(10));
    CHECK(gate.accepted(in("shop", 100, 9), at(11)) == 1);
    CHECK(gate.accepted(in("shop", 0, 3), at(11)) == 3);
    CHECK(gate.accepted(in("shop", 100, 9), at(11, 9)) == 1);
    CHECK(gate.accepted(in("shop", 100, 9), at(11, 10)) == 2);
    CHECK(gate.hourly(group("shop")).series_current == 5);
}

TEST_CASE("markers pass where no limit matches their series, and make no budget") {
    label_limit limit = five_per_namespace();
    limit.match = selecting("{namespace!=\"\"}");
    labelled_offering gate{settings_of({limit}), at(10)};
    CHECK(gate.accepted({.labels = {{"job", "x"}}, .count = 3, .admits = false}, at(10)) == 3);
    batch markers = in("shop", 0, 3);
    markers.admits = false;
    CHECK(gate.offer(markers, at(10)) == verdict_counts{.refused_unknown = 3});
    CHECK(figures_of(gate.limiter).limits.empty());
}

}  // namespace label_limits_test
