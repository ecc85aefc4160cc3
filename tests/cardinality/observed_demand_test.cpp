#include "cardinality/suggestions.hpp"

#include "limit/labelled.hpp"
#include "support/catch.hpp"
#include "support/state_text.hpp"

namespace seriesgate::testing {
namespace {

limit_rules per_namespace() {
    limit_rules made;
    made.global.hourly = 100;
    label_limit& limit = made.limits.emplace_back();
    limit.name = "per-namespace";
    limit.each = {"namespace"};
    limit.maxima.hourly = 10;
    return made;
}

suggestion find(observed_demand& demand, const series_limiter& limiter, demand_scope scope, time_point now) {
    for (const suggestion& each : demand.suggest(limiter, now, {}).shown)
        if (each.scope == scope) return each;
    FAIL("no such suggestion");
    return {};
}

TEST_CASE("what a limiter was asked for becomes a suggestion, and outlives the process") {
    observed_demand demand;
    labelled_offering gate{per_namespace(), at(10)};
    gate.offer({.labels = {{"namespace", "a"}}, .count = 14}, at(10));
    demand.look(gate.limiter, at(10, 30));
    CHECK(find(demand, gate.limiter, demand_scope::group, at(10, 30)).hourly.windows == 0);
    gate.limiter.maintain(at(11));
    demand.look(gate.limiter, at(11));
    const suggestion group = find(demand, gate.limiter, demand_scope::group, at(11));
    CHECK(group.hourly.windows == 1);
    CHECK(group.hourly.demand == 0);
    CHECK(group.hourly.peak == 14);
    CHECK(group.hourly.suggested == 21u);
    CHECK(find(demand, gate.limiter, demand_scope::global, at(11)).hourly.peak == 10);

    const std::string bytes = saved_text(demand);
    observed_demand after;
    REQUIRE(loads_text(after, bytes));
    CHECK(find(after, gate.limiter, demand_scope::group, at(11)).hourly.peak == 14);
    CHECK_FALSE(loads_text(after, std::string_view{bytes}.substr(1)));
    CHECK(find(after, gate.limiter, demand_scope::group, at(11)).hourly.peak == 14);
}

TEST_CASE("hours pass for those who are asked for nothing, too") {
    observed_demand demand;
    labelled_offering gate{per_namespace(), at(10)};
    gate.offer({.labels = {{"namespace", "a"}}, .count = 5}, at(10));
    gate.limiter.maintain(at(11));
    demand.look(gate.limiter, at(11));
    CHECK(find(demand, gate.limiter, demand_scope::limit, at(11)).hourly.peak == 5);
    leap(gate.limiter, at(11, 0, 0, 1));  // 25 hours after that hour began
    demand.look(gate.limiter, at(11, 6, 0, 1));
    CHECK(find(demand, gate.limiter, demand_scope::limit, at(11, 6, 0, 1)).hourly.peak == 0);
    CHECK(find(demand, gate.limiter, demand_scope::limit, at(11, 6, 0, 1)).daily.peak == 5);
}

TEST_CASE("counts are noted now and then, and tell when a budget is exhausted") {
    observed_demand demand;
    labelled_offering gate{per_namespace(), at(10)};
    gate.offer({.labels = {{"namespace", "a"}}, .count = 2}, at(10));
    demand.look(gate.limiter, at(10, 2));
    demand.look(gate.limiter, at(10, 4));  // not yet: the first one counts
    gate.offer({.labels = {{"namespace", "a"}}, .first = 2, .count = 2}, at(10, 4));
    CHECK(find(demand, gate.limiter, demand_scope::group, at(10, 6)).hourly.exhausted_in == std::chrono::minutes{12});
}

}  // namespace
}  // namespace seriesgate::testing
