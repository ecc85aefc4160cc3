// What budgets_model_test.cpp draws at random, as a story; there are the day, no number at all, and markers.

#include "limit/labelled.hpp"
#include "support/catch.hpp"

namespace seriesgate::testing {
namespace {

/// Five series of everybody together, ten exempt ones of each tenant.
limit_rules rules_of_exempt() {
    return {.global = {.hourly = 5, .daily = 7}, .exempt = {selecting("up")}, .exempt_series_max = 10};
}

const label_set up{{"__name__", "up"}};

batch some(std::string tenant, std::uint64_t first, std::uint64_t count, const label_set& labels = up) {
    return {.tenant = std::move(tenant), .labels = labels, .first = first, .count = count};
}

std::uint64_t exempt_of(const labelled_offering& gate, const std::string& tenant) {
    return gate.hourly({.limit = "exempt", .tenant = tenant}).series_current;
}

}  // namespace

TEST_CASE("whoever calls all series as the exempt ones are called has room for so many more, and no others") {
    labelled_offering gate{rules_of_exempt(), at(10)};
    CHECK(gate.refused(some("a", 0, 100), at(10)) == 100 - 10 - 5);
    CHECK(exempt_of(gate, "a") == 10);
    CHECK(figures_of(gate.limiter).exempt_hourly == 10);
    CHECK(gate.hourly().series_current == 5);
    // Each tenant has its own.
    CHECK(gate.refused(some("b", 0, 100), at(10)) == 100 - 10);
    CHECK(figures_of(gate.limiter).exempt_hourly == 20);
    // What was let in is known.
    CHECK(gate.refused(some("a", 0, 15), at(10, 1)) == 0);
}

TEST_CASE("exempt series within their limit pass whatever else is spent, and say what they would need beyond") {
    labelled_offering gate{rules_of_exempt(), at(10)};
    CHECK(gate.refused(some("a", 0, 50, {{"__name__", "other"}}), at(10)) == 45);
    CHECK(gate.refused(some("a", 100, 10), at(10)) == 0);
    CHECK(gate.refused(some("a", 200, 3), at(10)) == 3);
    CHECK(gate.hourly({.limit = "exempt", .tenant = "a"}).series_refused == 3);
}

TEST_CASE("room is kept where series were counted: what came beyond the exemption takes no place of an exempt one") {
    labelled_offering gate{rules_of_exempt(), at(10)};
    REQUIRE(gate.refused(some("a", 0, 15), at(10)) == 0);  // ten, and five beyond
    // Those of beyond come first, then newcomers of both kinds, then those that were exempt.
    CHECK(gate.refused(some("a", 10, 5), at(11)) == 0);
    CHECK(exempt_of(gate, "a") == 0);
    CHECK(gate.refused(some("a", 500, 20), at(11)) == 20);
    CHECK(gate.refused(some("a", 0, 10), at(11)) == 0);
    CHECK(exempt_of(gate, "a") == 10);
    CHECK(gate.hourly().series_current == 5);
}

}  // namespace seriesgate::testing
