// What stands in an entry without a sample that could admit a series: stale markers and exemplars.
#include "limit/limiter.hpp"
#include "limit/offering.hpp"
#include "support/catch.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;

namespace {

/// An entry with exemplars only.
offered_series exemplar(std::uint64_t index) {
    return {.fingerprint = fingerprint_of(index)};
}

}  // namespace

TEST_CASE("a marker of a series that nobody admitted is dropped and costs no slot") {
    offering gate{GENERATE(limit_rules{.global = {.hourly = 10}}, limit_rules{.global = {.daily = 10}},
                           limit_rules{.global = {.hourly = 10, .daily = 10}}),
                  at(10)};
    CHECK(gate.offer(stale_markers(0, 1'000), at(10)) == verdict_counts{.refused_unknown = 1'000});
    CHECK(gate.hourly() == counts{.current = 0, .refused = 0, .samples_refused = 0});
    CHECK(gate.daily() == counts{.current = 0, .samples_refused = 0});
    CHECK(gate.accepted(series(2'000, 10), at(10)) == 10);
}

TEST_CASE("a marker passes when its series is known in the hour") {
    offering gate{{.global = {.hourly = 10}}, at(10)};
    gate.offer(series(0, 10), at(10));
    CHECK(gate.offer(stale_markers(0, 12), at(10, 59)) == verdict_counts{.accepted = 10, .refused_unknown = 2});
    CHECK(gate.hourly().series_current == 10);
}

TEST_CASE("a marker passes when its series is known in the day") {
    offering gate{{.global = {.hourly = 10}}, at(10)};
    gate.offer(series(0, 10), at(10));
    gate.offer(series(10, 10), at(15));
    CHECK(gate.offer(stale_markers(0, 10), at(15)) == verdict_counts{.accepted = 10});
    CHECK(gate.hourly().series_current == 10);
}

TEST_CASE("a marker passes when its series is known in the previous hour, over midnight too") {
    offering gate{{.global = {.hourly = 10, .daily = 100}}, at(22)};
    gate.offer(series(100, 10), at(22));
    gate.offer(series(0, 10), at(23, 59));
    CHECK(gate.offer(stale_markers(0, 10), at(0, 0, 1, 1)) == verdict_counts{.accepted = 10});
    CHECK(gate.offer(stale_markers(0, 10), at(0, 59, 59, 1)) == verdict_counts{.accepted = 10});
    // Neither in this day nor in the hour before.
    CHECK(gate.offer(stale_markers(100, 10), at(0, 0, 1, 1)) == verdict_counts{.refused_unknown = 10});
    CHECK(gate.hourly().series_current == 0);
    CHECK(gate.daily().series_current == 0);
    CHECK(gate.offer(stale_markers(0, 10), at(1, 0, 0, 1)) == verdict_counts{.refused_unknown = 10});
}

TEST_CASE("markers pass when no limit applies, and are not counted") {
    offering gate{{}, at(10)};
    CHECK(gate.offer(stale_markers(0, 10), at(10)) == verdict_counts{.accepted = 10});
    CHECK(gate.hourly().series_current == 0);
    CHECK(gate.daily().series_current == 0);
}

TEST_CASE("an exemplar passes with its sample, before or after it in the request") {
    offering gate{{.global = {.hourly = 1}}, at(10)};
    const auto sample = series(1, 1)[0];
    const auto refused = series(2, 1)[0];
    SECTION("before") {
        CHECK(gate.offer(std::vector{exemplar(1), sample}, at(10)) == verdict_counts{.accepted = 2});
    }
    SECTION("after") {
        CHECK(gate.offer(std::vector{sample, exemplar(1)}, at(10)) == verdict_counts{.accepted = 2});
    }
    SECTION("with one of a refused series around it") {
        gate.offer(std::vector{exemplar(2), exemplar(1), sample, refused, exemplar(2), exemplar(1)}, at(10));
        CHECK(gate.verdicts == std::vector{verdict::unknown, verdict::known, verdict::admitted, verdict::refused_hourly,
                                           verdict::unknown, verdict::known});
    }
    CHECK(gate.hourly().series_current == 1);
}

TEST_CASE("a stale marker does not get in the way of its series' next sample") {
    offering gate{{.global = {.hourly = 1}}, at(10)};
    CHECK(gate.offer(stale_markers(0, 1), at(10)) == verdict_counts{.refused_unknown = 1});
    CHECK(gate.offer(series(0, 1), at(10)) == verdict_counts{.accepted = 1});
    CHECK(gate.offer(stale_markers(0, 1), at(10)) == verdict_counts{.accepted = 1});
    CHECK(gate.hourly().samples_refused == 0);
}

TEST_CASE("a marker of a series that the day knows passes though the hour refuses the series") {
    offering gate{{.global = {.hourly = 1}}, at(10)};
    gate.offer(series(0, 1), at(10));
    gate.limiter.maintain(at(11));
    gate.offer(series(1, 1), at(12));
    CHECK(gate.offer(series(0, 1), at(12)) == verdict_counts{.refused_hourly = 1});
    CHECK(gate.offer(stale_markers(0, 1), at(12)) == verdict_counts{.accepted = 1});
}
