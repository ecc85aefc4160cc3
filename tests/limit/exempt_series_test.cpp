#include <string>

#include "limit/labelled.hpp"
#include "support/catch.hpp"

namespace seriesgate::testing {
namespace {

using namespace std::chrono_literals;

/// Five series of everybody together, ten exempt ones of each tenant.
limit_rules rules_of(std::uint64_t exempt_max = 10) {
    limit_rules rules{.global = {.hourly = 5, .daily = 7}};
    rules.exempt = {selecting("up")};
    rules.exempt_series_max = exempt_max;
    return rules;
}

const label_set up{{"__name__", "up"}};

batch some(std::string tenant, std::uint64_t first, std::uint64_t count, const label_set& labels = up) {
    return {.tenant = std::move(tenant), .labels = labels, .first = first, .count = count};
}

std::uint64_t refused_in(const labelled_offering& gate) {
    return static_cast<std::uint64_t>(std::ranges::count_if(gate.verdicts, is_refused));
}

std::uint64_t exempt_of(const labelled_offering& gate, const std::string& tenant) {
    return gate.hourly({.limit = "exempt", .tenant = tenant}).series_current;
}

}  // namespace

TEST_CASE("whoever calls all series as the exempt ones are called has room for so many more, and no others") {
    labelled_offering gate{rules_of(), at(10)};
    gate.offer(some("a", 0, 100), at(10));
    CHECK(refused_in(gate) == 100 - 10 - 5);
    CHECK(exempt_of(gate, "a") == 10);
    CHECK(figures_of(gate.limiter).exempt_hourly == 10);
    CHECK(gate.hourly().series_current == 5);
    // Each tenant has its own.
    gate.offer(some("b", 0, 100), at(10));
    CHECK(refused_in(gate) == 100 - 10);
    CHECK(figures_of(gate.limiter).exempt_hourly == 20);
    // What was let in is known.
    gate.offer(some("a", 0, 15), at(10, 1));
    CHECK(refused_in(gate) == 0);
}

TEST_CASE("exempt series within their limit pass whatever else is spent, and say what they would need beyond") {
    labelled_offering gate{rules_of(), at(10)};
    gate.offer(some("a", 0, 50, {{"__name__", "other"}}), at(10));
    CHECK(refused_in(gate) == 45);
    gate.offer(some("a", 100, 10), at(10));
    CHECK(refused_in(gate) == 0);
    gate.offer(some("a", 200, 3), at(10));
    CHECK(refused_in(gate) == 3);
    CHECK(gate.hourly({.limit = "exempt", .tenant = "a"}).series_refused == 3);
}

TEST_CASE("without a number exempt series are counted and not limited") {
    labelled_offering gate{rules_of(0), at(10)};
    gate.offer(some("a", 0, 100), at(10));
    CHECK(refused_in(gate) == 0);
    CHECK(exempt_of(gate, "a") == 100);
    CHECK(gate.hourly().series_current == 0);
}

TEST_CASE("room is kept where series were counted: what came beyond the exemption takes no place of an exempt one") {
    labelled_offering gate{rules_of(), at(10)};
    gate.offer(some("a", 0, 15), at(10));  // ten, and five beyond
    REQUIRE(refused_in(gate) == 0);
    // Those of beyond come first, then newcomers of both kinds, then those that were exempt.
    gate.offer(some("a", 10, 5), at(11));
    CHECK(refused_in(gate) == 0);
    CHECK(exempt_of(gate, "a") == 0);
    gate.offer(some("a", 500, 20), at(11));
    CHECK(refused_in(gate) == 20);
    gate.offer(some("a", 0, 10), at(11));
    CHECK(refused_in(gate) == 0);
    CHECK(exempt_of(gate, "a") == 10);
    CHECK(gate.hourly().series_current == 5);
}

TEST_CASE("the day has room for as many exempt series as the hour") {
    labelled_offering gate{rules_of(), at(10)};
    gate.offer(some("a", 0, 10), at(10));
    gate.offer(some("a", 100, 20), at(11, 30));
    // The day of the global limit has seven, the hour five.
    CHECK(refused_in(gate) == 15);
    CHECK(exempt_of(gate, "a") == 0);
}

TEST_CASE("a stale marker of a series that is not known is no way in, whatever it is called") {
    labelled_offering gate{rules_of(), at(10)};
    gate.offer(some("a", 0, 15), at(10));
    gate.offer({.tenant = "a", .labels = up, .first = 700, .count = 1, .admits = false}, at(10, 1));
    CHECK(gate.verdicts[0] == verdict::unknown);
}

}  // namespace seriesgate::testing
