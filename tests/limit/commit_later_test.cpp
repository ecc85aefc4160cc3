// The two halves of a decision: what is looked up now may be settled later, after others.
#include "limit/limiter.hpp"
#include "limit/offering.hpp"
#include "support/catch.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;

namespace {

/// A request between its two halves.
struct waiting {
    std::vector<offered_series> offered;
    std::vector<verdict> verdicts;
    lookup_result open;

    waiting(offering& gate, std::vector<offered_series> sent, time_point now)
        : offered(std::move(sent)), verdicts(offered.size(), verdict::unknown) {
        gate.limiter.lookup(offered, now, verdicts, open);
    }
    std::vector<verdict> settled(offering& gate, time_point now, std::string_view tenant = {}) {
        REQUIRE(gate.limiter.commit(offered, now, verdicts, open, {.tenant = tenant}));
        return verdicts;
    }
};

}  // namespace

TEST_CASE("what is known or was refused lately leaves nothing to settle but its count") {
    offering gate{{.global = {.hourly = 2}}, at(10)};
    gate.offer(series(0, 3), at(10));
    waiting known{gate, series(0, 2), at(10, 1)};
    CHECK(known.open.is_empty());
    CHECK(known.verdicts == std::vector{verdict::known, verdict::known});
    const auto commits = gate.commits();
    waiting refused{gate, series(2, 1), at(10, 1)};
    CHECK_FALSE(refused.open.is_empty());
    CHECK(refused.open.pending.empty());
    CHECK(gate.hourly().samples_refused == 1);
    CHECK(refused.settled(gate, at(10, 1)) == std::vector{verdict::refused_hourly});
    CHECK(gate.hourly().samples_refused == 2);
    CHECK(gate.commits() == commits);  // no lock
}

TEST_CASE("two requests with the same new series are looked up, and it is counted once") {
    offering gate{{.global = {.hourly = 10}}, at(10)};
    waiting one{gate, series(0, 1), at(10)};
    waiting other{gate, series(0, 1), at(10)};
    CHECK(other.settled(gate, at(10)) == std::vector{verdict::admitted});
    CHECK(one.settled(gate, at(10)) == std::vector{verdict::known});
    CHECK(gate.hourly().series_current == 1);
}

TEST_CASE("room that was there at the lookup may be taken by others before it is settled") {
    offering gate{{.global = {.hourly = 3}}, at(10)};
    waiting late{gate, series(0, 3), at(10)};
    CHECK(gate.accepted(series(100, 2), at(10)) == 2);
    CHECK(late.settled(gate, at(10)) ==
          std::vector{verdict::admitted, verdict::refused_hourly, verdict::refused_hourly});
    CHECK(gate.hourly().series_current == 3);
}

TEST_CASE("what is settled after the hour's end counts in the hour that it is by then") {
    offering gate{{.global = {.hourly = 5}, .incumbent_grace = std::chrono::seconds{0}}, at(10)};
    gate.offer(series(100, 5), at(10));
    waiting late{gate, series(0, 2), at(10, 59, 59)};
    gate.offer(series(100, 1), at(11));
    CHECK(late.settled(gate, at(11)) == std::vector{verdict::admitted, verdict::admitted});
    CHECK(gate.hourly().span == hour_of(at(11)));
    CHECK(gate.hourly().series_current == 3);
    CHECK(gate.daily().series_current == 7);
}

TEST_CASE("a reload between the halves is obeyed") {
    offering gate{{.global = {.hourly = 1}}, at(10)};
    waiting late{gate, series(0, 4), at(10)};
    gate.limiter.reconfigure({.global = {.hourly = 3}});
    CHECK(late.settled(gate, at(10)) ==
          std::vector{verdict::admitted, verdict::admitted, verdict::admitted, verdict::refused_hourly});
}

TEST_CASE("what was refused in an hour that has ended is asked again, what was known stays accepted") {
    offering gate{{.global = {.hourly = 2}, .incumbent_grace = std::chrono::seconds{0}}, at(10)};
    gate.offer(series(0, 3), at(10));
    waiting late{gate, joined(joined(stale_markers(9, 1), series(0, 3)), series(5, 1)), at(10, 59, 59)};
    CHECK(late.settled(gate, at(11)) ==
          std::vector{verdict::unknown, verdict::known, verdict::known, verdict::admitted, verdict::admitted});
    CHECK(gate.hourly() == tally{.current = 2, .samples_refused = 0});
}

TEST_CASE("a series that is refused for two requests at once is told of to the one that wants to hear it") {
    limit_rules rules;
    rules.tenants.fallback = {.hourly = 1, .daily = 0};
    rules.tenants.answers = {{"loud", limit_answer::reject}};
    offering gate{rules, at(10)};
    for (const char* tenant : {"quiet", "loud"}) {
        waiting first{gate, series(static_cast<std::uint64_t>(tenant[0]), 1), at(10)};
        first.settled(gate, at(10), tenant);  // their limits are spent
    }
    waiting quiet{gate, series(0, 1), at(10)};
    waiting loud{gate, series(0, 1), at(10)};
    CHECK(quiet.settled(gate, at(10), "quiet") == std::vector{verdict::refused_hourly});
    CHECK(loud.settled(gate, at(10), "loud") == std::vector{verdict::refused_hourly_reported});
    CHECK(gate.hourly().series_refused == 1);
}
