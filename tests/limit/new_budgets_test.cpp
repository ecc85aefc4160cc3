// Incumbents of budgets that did not count them in the hour before: a limit that a reload has made or changed, a group
// that shared the overflow budget. Through the grace no newcomer takes what a series of the hour before needs.
#include "limit/labelled.hpp"
#include "limit/snapshot_bytes.hpp"
#include "support/catch.hpp"

using namespace std::chrono_literals;
using namespace seriesgate;
using namespace seriesgate::testing;

namespace new_budgets_test {
namespace {

limit_rules with_limit(std::uint64_t max, std::uint64_t groups_max = 10'000) {
    label_limit limit = limit_named("per-namespace", {"namespace"}, {.hourly = max, .daily = 0});
    limit.groups_max = groups_max;
    limit_rules settings;
    settings.limits.push_back(limit);
    return settings;
}

batch in(const char* space, std::uint64_t first, std::uint64_t count) {
    return {.labels = {{"namespace", space}}, .first = first, .count = count};
}

}  // namespace

TEST_CASE("a limit added over healthy series keeps their room through the next grace") {
    labelled_offering gate{{}, at(10)};
    gate.offer(in("x", 0, 8), at(10));
    gate.limiter.reconfigure(with_limit(10));
    SECTION("newcomers first") {
        CHECK(gate.accepted(in("x", 1'000, 100), at(11)) == 0);
        CHECK(gate.accepted(in("x", 0, 8), at(11, 1)) == 8);
        CHECK(gate.accepted(in("x", 1'000, 100), at(11, 2)) == 0);
        CHECK(gate.accepted(in("x", 1'000, 100), at(11, 10)) == 2);
        // In the next hour it knows them all.
        CHECK(gate.accepted(in("x", 2'000, 100), at(12)) == 0);
        CHECK(gate.accepted(in("x", 0, 8), at(12)) == 8);
    }
    SECTION("in a restart between") {
        labelled_offering again{with_limit(10), at(10, 30)};
        REQUIRE(restored(again.limiter, saved(gate.limiter), at(10, 30)));
        CHECK(again.accepted(in("x", 1'000, 100), at(11)) == 0);
        CHECK(again.accepted(in("x", 0, 8), at(11, 1)) == 8);
    }
    SECTION("with a restart that brings the limit") {
        labelled_offering before{{}, at(10)};
        before.offer(in("x", 0, 8), at(10));
        labelled_offering again{with_limit(10), at(10, 30)};
        REQUIRE(restored(again.limiter, saved(before.limiter), at(10, 30)));
        CHECK(again.accepted(in("x", 1'000, 100), at(11)) == 0);
        CHECK(again.accepted(in("x", 0, 8), at(11, 1)) == 8);
    }
}

TEST_CASE("a group that leaves the overflow budget keeps its room") {
    labelled_offering gate{with_limit(10, 1), at(22)};
    gate.offer(in("first", 0, 1), at(22));
    gate.offer(in("x", 0, 8), at(23));  // shares
    REQUIRE(gate.has(overflow_of("per-namespace")));
    SECTION("because its place has become free") {
        CHECK(gate.accepted(in("x", 1'000, 100), at(0, 0, 0, 1)) == 0);
        CHECK(gate.accepted(in("x", 0, 8), at(0, 1, 0, 1)) == 8);
        CHECK(gate.has({.limit = "per-namespace", .group = {{"namespace", "x"}}}));
    }
    SECTION("because there are more places") {
        gate.limiter.reconfigure(with_limit(10, 100));
        CHECK(gate.accepted(in("x", 1'000, 100), at(0, 0, 0, 1)) == 0);
        CHECK(gate.accepted(in("x", 0, 8), at(0, 1, 0, 1)) == 8);
    }
}

}  // namespace new_budgets_test
