// What budgets had come to when their windows ended.
#include "support/catch.hpp"

#include "limit/budget.hpp"
#include "limit/figures.hpp"
#include "limit/labelled.hpp"
#include "limit/snapshot_bytes.hpp"

namespace seriesgate::testing::ended_budgets_test {
namespace {

using std::chrono::floor;
using std::chrono::seconds;

window_demand demand(time_point start, std::uint64_t series) {
    return {.start = floor<seconds>(start), .series = series};
}

/// The one of this scope; of several the one with this group's value, or tenant.
ended_budget one_of(const std::vector<ended_budget>& all, demand_scope scope, const std::string& value = {}) {
    std::vector<ended_budget> found;
    for (const ended_budget& each : all) {
        const std::string own = !each.name.group.empty() ? each.name.group.front().second : each.name.tenant;
        if (each.scope == scope && (value.empty() || own == value)) found.push_back(each);
    }
    REQUIRE(found.size() == 1);
    return found.front();
}

std::size_t count_of(const std::vector<ended_budget>& all, demand_scope scope) {
    return static_cast<std::size_t>(std::ranges::count(all, scope, &ended_budget::scope));
}

limit_rules two_namespaces() {
    limit_rules made{.global = {.hourly = 100},
                     .limits = {limit_named("per-namespace", {"namespace"}, {.hourly = 5, .daily = 8})}};
    made.tenants.fallback.hourly = 50;
    return made;
}

TEST_CASE("an hour that ends leaves what was admitted and refused in it, to the last series") {
    labelled_offering gate{two_namespaces(), at(10)};
    gate.offer(in("a", 0, 4), at(10));
    gate.offer(in("b", 0, 7), at(10));
    gate.offer(in("a", 4, 3), at(10, 59, 59));
    CHECK(take_ended(gate.limiter).empty());

    gate.limiter.maintain(at(11));
    const auto ended = take_ended(gate.limiter);
    CHECK(one_of(ended, demand_scope::group, "a").hour == demand(at(10), 7));
    CHECK(one_of(ended, demand_scope::group, "b").hour == demand(at(10), 7));
    CHECK(one_of(ended, demand_scope::group, "a").name.limit == "per-namespace");
    CHECK(one_of(ended, demand_scope::limit).hour == demand(at(10), 7));
    CHECK(one_of(ended, demand_scope::limit).name.limit == "per-namespace");
    // What the limit refused, the others did not get to see.
    CHECK(one_of(ended, demand_scope::global).hour == demand(at(10), 10));
    CHECK(one_of(ended, demand_scope::tenant).hour == demand(at(10), 10));
    CHECK(one_of(ended, demand_scope::tenants).hour == demand(at(10), 10));
    CHECK_FALSE(one_of(ended, demand_scope::global).day.has_value());
    CHECK(take_ended(gate.limiter).empty());
}

TEST_CASE("a day that ends leaves its own demand beside that of its last hour") {
    labelled_offering gate{two_namespaces(), at(22)};
    gate.offer(in("a", 0, 5), at(22));
    gate.limiter.maintain(at(23));
    (void)take_ended(gate.limiter);
    gate.offer(in("a", 10, 4), at(23, 30));
    gate.limiter.maintain(at(0, 0, 0, 1));
    const auto ended = take_ended(gate.limiter);
    // 5 of the hour before and 3 of this one; one more finds the day's 8 taken.
    CHECK(one_of(ended, demand_scope::group, "a").day == demand(at(0), 9));
    CHECK(one_of(ended, demand_scope::group, "a").hour == demand(at(23), 3));
    CHECK(one_of(ended, demand_scope::global).day == demand(at(0), 8));
}

TEST_CASE("the largest of a limit is the largest of those without an override") {
    limit_rules rules = two_namespaces();
    rules.limits[0].overrides = {{.group = {{"namespace", "big"}}, .maxima = {.hourly = 40, .daily = 0}}};
    rules.tenants.overrides = {{"whale", {.hourly = 60, .daily = 0}}};
    labelled_offering gate{rules, at(10)};
    gate.offer(in("big", 0, 30, "whale"), at(10));
    gate.offer(in("a", 0, 3, "fish"), at(10));
    gate.limiter.maintain(at(11));
    const auto ended = take_ended(gate.limiter);
    CHECK(one_of(ended, demand_scope::group, "big").hour == demand(at(10), 30));
    CHECK(one_of(ended, demand_scope::limit).hour == demand(at(10), 3));
    CHECK(one_of(ended, demand_scope::tenants).hour == demand(at(10), 3));
    CHECK(one_of(ended, demand_scope::tenant, "whale").hour == demand(at(10), 30));
}

TEST_CASE("a limit without groups is one budget") {
    labelled_offering gate{{.limits = {limit_named("all", {}, {})}}, at(10)};
    gate.offer({.labels = {{"a", "b"}}, .count = 6}, at(10));
    gate.limiter.maintain(at(11));
    const auto ended = take_ended(gate.limiter);
    CHECK(one_of(ended, demand_scope::limit).hour == demand(at(10), 6));
    CHECK(count_of(ended, demand_scope::group) == 0);
}

TEST_CASE("of many budgets those with the most demand are kept, and the largest of each limit") {
    labelled_offering gate{{.limits = {limit_named("each", {"n"}, {})}}, at(10)};
    constexpr std::uint64_t groups = 5'000;
    for (std::uint64_t n = 0; n < groups; ++n)  // the largest come neither first nor last
        gate.offer({.labels = {{"n", std::to_string(n)}}, .count = 1 + (n * 7) % groups % 10}, at(10));
    gate.offer({.labels = {{"n", "1234"}}, .first = 100, .count = 100}, at(10));
    gate.limiter.maintain(at(11));
    const auto ended = take_ended(gate.limiter);
    CHECK(count_of(ended, demand_scope::group) >= 500);
    CHECK(count_of(ended, demand_scope::group) <= 2 * ended_budgets::kept_min);
    const std::uint64_t own = 1 + (1234 * 7) % groups % 10;
    CHECK(one_of(ended, demand_scope::group, "1234").hour == demand(at(10), 100 + own));
    CHECK(one_of(ended, demand_scope::limit).hour == demand(at(10), 100 + own));
    std::uint64_t with_ten = 0;
    for (const ended_budget& each : ended) with_ten += each.scope == demand_scope::group && each.hour->series == 10;
    CHECK(with_ten == 500);
}

TEST_CASE("what a gate had when it stopped is what its hour had come to") {
    const limit_rules rules = two_namespaces();
    labelled_offering before{rules, at(10)};
    before.offer(in("a", 0, 4), at(10, 20));
    restarted<labelled_offering> after{rules, saved(before.limiter), at(13)};
    after.limiter.maintain(at(13));
    CHECK(one_of(take_ended(after.limiter), demand_scope::group, "a").hour == demand(at(10), 4));
}

TEST_CASE("budgets that nobody used leave nothing") {
    labelled_offering gate{two_namespaces(), at(10)};
    gate.limiter.maintain(at(11));
    gate.limiter.maintain(at(12));
    CHECK(take_ended(gate.limiter).empty());
}

TEST_CASE("an hour that ends before all budgets know of the last one keeps its own place in time") {
    offering gate{{.global = {.hourly = 5, .daily = 0}}, at(10)};
    gate.offer(series(1, 3), at(10));
    // Nobody asks for a budget, so none is told of the first new hour before the second.
    (void)gate.limiter.sets_at(at(11));
    gate.limiter.maintain(at(12));
    const auto ended = take_ended(gate.limiter);
    REQUIRE(!ended.empty());  // with a table the next hour has active series at its begin
    CHECK(ended.front().hour == demand(at(10), 3));
}

TEST_CASE("the figures of windows are those of the new hour, also before any budget is told of it") {
    offering gate{{.global = {.hourly = 5, .daily = 0}}, at(10)};
    gate.offer(series(1, 3), at(10, 59));
    (void)gate.limiter.sets_at(at(11));
    CHECK(figures_of_windows(gate.limiter).hourly.series_current == 0);
}

TEST_CASE("what a budget refuses of a day is counted to its end, though it admitted nothing") {
    labelled_offering gate{{.limits = {limit_named("per-namespace", {"namespace"}, {.daily = 2})}}, at(23)};
    gate.offer(in("a", 0, 2), at(23));
    CHECK(gate.accepted(in("a", 10, 3), at(0, 1, 0, 1)) == 0);  // all is kept
    gate.limiter.maintain(at(1, 0, 0, 1));
    const auto budget = gate.find({.limit = "per-namespace", .group = {{"namespace", "a"}}});
    REQUIRE(budget);
    CHECK(budget->daily.series_refused == 3);
}

}  // namespace
}  // namespace seriesgate::testing::ended_budgets_test
