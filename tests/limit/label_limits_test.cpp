// What of the budgets of tenants and label groups budgets_model_test.cpp does not have.
#include "limit/explain.hpp"
#include "limit/figures.hpp"
#include "limit/labelled.hpp"
#include "support/catch.hpp"

namespace seriesgate::testing::label_limits_test {
namespace {

limit_rules settings_of(std::vector<label_limit> limits) {
    return {.incumbent_grace = 0s, .limits = std::move(limits)};
}

label_limit five_per_namespace() {
    return limit_named("per-namespace", {"namespace"}, {.hourly = 5, .daily = 0});
}

/// Five an hour and eight a day for everybody, unless said otherwise.
limit_rules five_each() {
    limit_rules settings{.incumbent_grace = std::chrono::seconds{0}};
    settings.tenants.fallback = {.hourly = 5, .daily = 8};
    return settings;
}

batch of(std::string tenant, std::uint64_t first, std::uint64_t count) {
    return {.tenant = std::move(tenant), .first = first, .count = count};
}

/// With all the work that one answer may take.
std::vector<spent_budget> explained(const series_limiter& limiter, const offered_series& series,
                                    std::span<const label_view> labels, std::string_view tenant) {
    std::uint64_t work = rule_work_max;
    return explain(limiter, series, labels, tenant, work);
}

}  // namespace

TEST_CASE("series without the label, or with an empty one, are one group") {
    labelled_offering gate{settings_of({five_per_namespace()}), at(10)};
    CHECK(gate.accepted({.labels = {{"job", "x"}}, .count = 3}, at(10)) == 3);
    CHECK(gate.accepted(in("", 0, 9), at(10)) == 2);
    CHECK(gate.hourly({.limit = "per-namespace", .group = {{"namespace", ""}}}).series_current == 5);
}

TEST_CASE("values that would read the same when joined are different groups") {
    labelled_offering gate{settings_of({limit_named("pairs", {"a", "b"}, {.hourly = 2, .daily = 0})}), at(10)};
    CHECK(gate.accepted({.labels = {{"a", "xy"}, {"b", "z"}}, .count = 3}, at(10)) == 2);
    CHECK(gate.accepted({.labels = {{"a", "x"}, {"b", "yz"}}, .count = 3}, at(10)) == 2);
    CHECK(gate.accepted({.labels = {{"a", "xyz"}}, .count = 3}, at(10)) == 2);
    CHECK(gate.accepted({.labels = {{"b", "xyz"}}, .count = 3}, at(10)) == 2);
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
    CHECK(gate.hourly(overflow_of("per-namespace")) == tally{.current = 5, .refused = 7});
    const auto overflow = gate.budget(overflow_of("per-namespace"));
    CHECK(overflow.name.group == group_labels{{"namespace", "__overflow__"}});
}

TEST_CASE("an overflow budget that nobody needs goes, and another one comes when it is needed") {
    label_limit limit = five_per_namespace();
    limit.groups_max = 1;
    labelled_offering gate{settings_of({limit}), at(23)};
    gate.offer(in("a", 0, 3), at(23));
    gate.offer(in("b", 0, 3), at(23));
    gate.offer(in("a", 0, 3), at(0, 0, 0, 1));
    gate.offer(in("a", 0, 3), at(1, 0, 0, 1));
    CHECK_FALSE(gate.has(overflow_of("per-namespace")));
    CHECK(gate.accepted(in("b", 0, 9), at(1, 0, 0, 1)) == 5);
    REQUIRE(gate.has(overflow_of("per-namespace")));
    CHECK(gate.hourly(overflow_of("per-namespace")).series_current == 5);
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
    CHECK(gate.hourly(tenant_overflow) == tally{.max = 5, .current = 5, .refused = 16});
    const auto overflow = gate.budget(tenant_overflow);
    CHECK(overflow.name.tenant == "__overflow__");
    CHECK(overflow.name.has_tenant);
}

TEST_CASE("tenants with an override have their own budgets, and take no place of those without") {
    limit_rules settings = five_each();
    settings.tenants.tenants_max = 2;
    for (const char* vip : {"vip", "vip-2", "late"}) settings.tenants.overrides[vip] = {.hourly = 6, .daily = 0};
    labelled_offering gate{settings, at(10)};
    for (const auto& [tenant, max] : {std::pair{"vip", 6}, {"vip-2", 6}, {"a", 5}, {"b", 5}, {"late", 6}})
        CHECK(gate.accepted(of(tenant, 0, 9), at(10)) == static_cast<std::uint64_t>(max));
    CHECK_FALSE(gate.has(tenant_overflow));
    CHECK(gate.accepted(of("c", 0, 3), at(10)) == 3);
    for (const char* tenant : {"vip", "vip-2", "a", "b", "late"}) CHECK(gate.has(tenant_id(tenant)));
    CHECK_FALSE(gate.has(tenant_id("c")));
    CHECK(gate.hourly(tenant_overflow).series_current == 3);
}

TEST_CASE("a tenant with an endless name shares the overflow budget, whatever the bound") {
    labelled_offering gate{five_each(), at(10)};
    const std::string endless(10'000, 'x');
    CHECK(gate.accepted(of(endless, 0, 9), at(10)) == 5);
    CHECK_FALSE(gate.has(tenant_id(endless)));
    CHECK(gate.hourly(tenant_overflow).series_current == 5);
}

TEST_CASE("explanations of one answer share the work of one request") {
    const label_limit matching = limit_named("l", {}, {.hourly = 1}, "{a=~\"(x+y?)+\"}");
    labelled_offering gate{settings_of({matching}), at(10)};
    const std::string value(1'000'000, 'x');
    const std::vector<label_view> labels{{"a", value}};
    std::uint64_t work = rule_work_max;
    explain(gate.limiter, {.fingerprint = 1, .samples = 1, .admits = true}, labels, "", work);
    const std::uint64_t once = rule_work_max - work;
    CHECK(once > 2'000'000);
    work = once / 2;
    explain(gate.limiter, {.fingerprint = 1, .samples = 1, .admits = true}, labels, "", work);
    CHECK(work == 0);
}

TEST_CASE("an explanation names the tenant's budgets without room, those of the hour first") {
    limit_rules settings = five_each();
    settings.tenants.fallback = {.hourly = 5, .daily = 5};
    settings.global.hourly = 5;
    labelled_offering gate{settings, at(10)};
    const batch sent = of("a", 0, 9);
    gate.offer(sent, at(10));
    const offered_series refused{.fingerprint = fingerprint_in(sent, 8), .samples = 1, .admits = true};
    const auto spent = explained(gate.limiter, refused, {}, "a");
    REQUIRE(spent.size() == 3);
    CHECK_FALSE(spent[0].figures.name.has_tenant);  // the global one
    CHECK(spent[0].window == refusing_window::hourly);
    CHECK(spent[1].figures.name.tenant == "a");
    CHECK(spent[1].window == refusing_window::hourly);
    CHECK(spent[2].figures.name.tenant == "a");
    CHECK(spent[2].window == refusing_window::daily);
    CHECK(spent[2].figures.daily == tally{.max = 5, .current = 5});
    CHECK(explained(gate.limiter, refused, {}, "new").size() == 1);
    CHECK(figures_of(gate.limiter).tenants.size() == 1);
}

TEST_CASE("a tenant that is called like the overflow budget counts in it") {
    limit_rules settings = five_each();
    labelled_offering gate{settings, at(10)};
    CHECK(gate.accepted(of("__overflow__", 0, 9), at(10)) == 5);
    CHECK(figures_of(gate.limiter).tenants.size() == 1);
    CHECK(gate.hourly(tenant_overflow).series_current == 5);
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
    CHECK(figures.global.hourly == tally{.max = 7, .current = 7, .refused = 2});
    CHECK(figures.global.daily == tally{.max = 0, .current = 7});
}

TEST_CASE("figures tell of the room that is kept for incumbents") {
    limit_rules settings = five_each();
    settings.incumbent_grace = std::chrono::minutes{10};
    labelled_offering gate{settings, at(10)};
    gate.offer(of("a", 0, 4), at(10, 30));
    gate.offer(of("a", 0, 1), at(11));
    CHECK(gate.hourly(tenant_id("a")) == tally{.current = 1, .reserved = 3});
    CHECK(figures_of(gate.limiter).global.hourly.series_reserved == 3);
    gate.offer(of("a", 0, 1), at(11, 10));
    CHECK(gate.hourly(tenant_id("a")).series_reserved == 0);
}

TEST_CASE("no explanation names a budget that only watches, or any for an exempt series") {
    label_limit watch = limit_named("watch", {}, {.hourly = 5, .daily = 0});
    watch.mode = limit_mode::observe;
    limit_rules settings = settings_of({watch});
    settings.global.hourly = 5;
    settings.exempt = {selecting("{__name__=~\"ALERTS.*\"}")};
    labelled_offering gate{settings, at(10)};
    gate.offer({.count = 9}, at(10));
    const offered_series refused{.fingerprint = fingerprint_in({}, 8), .samples = 1, .admits = true};
    const auto spent = explained(gate.limiter, refused, {}, "");
    REQUIRE(spent.size() == 1);
    CHECK(spent[0].figures.name.limit.empty());
    CHECK(spent[0].figures.hourly.series_current == 5);
    const std::vector<label_view> alert{{"__name__", "ALERTS"}};
    CHECK(explained(gate.limiter, refused, alert, "").empty());
}

}  // namespace seriesgate::testing::label_limits_test
