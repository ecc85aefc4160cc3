// Incumbents of a fleet that do not wait: who they are, and what is left to tell of them.
#include "limit/untold.hpp"

#include "limit/labelled.hpp"
#include "limit/limiter_state.hpp"
#include "support/catch.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;

namespace {

using entry = untold_series::entry;

/// A gate of a fleet whose store agrees with whatever is asked, but for what the test says.
struct gate_of_fleet {
    series_limiter limiter;
    untold_series all{100};
    std::vector<offered_series> offered;
    std::vector<verdict> verdicts;
    lookup_result open;
    untold aside;
    shown_labels labels;

    gate_of_fleet(const limit_rules& rules, time_point now)
        : limiter{rules, now, hash_key::known_to_all(), limit_scope::fleet, tested_set()} {}

    /// Up to where the store would be asked.
    void lookup(std::vector<offered_series> sent, time_point now, const label_set& labelled = {}) {
        offered = std::move(sent);
        verdicts.assign(offered.size(), verdict::unknown);
        labels.entries.assign(offered.size(), views_of(labelled));
        aside = {};
        limiter.lookup(offered, now, verdicts, open);
        REQUIRE(limiter.select(offered, open, {.labels = &labels}));
        limiter.set_aside(offered, verdicts, open, all, aside);
    }
    /// Whatever is asked about is taken.
    void settle_taken(time_point now) {
        told said{.hour = open.hour, .pending = {open.pending.size(), {.outcome = told_outcome::taken}}};
        REQUIRE(limiter.commit(offered, now, verdicts, open, {.labels = &labels}, &said));
    }
    void admit(std::vector<offered_series> sent, time_point now, const label_set& labelled = {}) {
        lookup(std::move(sent), now, labelled);
        settle_taken(now);
    }
    void accept(time_point now) { all.accept(hour_of(now), limiter.rules()); }
    /// The store has said so of all that was set aside.
    std::vector<verdict> tell(const told_series& each, time_point now) {
        std::vector<verdict> decided(aside.series.size());
        told said{.hour = aside.open.hour, .pending = {aside.series.size(), each}};
        REQUIRE(limiter.commit(aside.series, now, decided, aside.open, {.tenant = aside.tenant}, &said));
        all.remove(hour_of(now), aside.series);
        return decided;
    }
};

limit_rules at_most(std::uint64_t hourly) {
    return {.global = {.hourly = hourly, .daily = 0}};
}

}  // namespace

TEST_CASE("incumbents are accepted at once where that is allowed, and newcomers wait") {
    gate_of_fleet gate{at_most(10), at(10)};
    gate.admit(series(0, 3), at(10));
    gate.accept(at(11));
    gate.lookup(joined(series(100, 2), series(0, 3)), at(11));
    CHECK(gate.verdicts ==
          std::vector{verdict::unknown, verdict::unknown, verdict::known, verdict::known, verdict::known});
    CHECK(gate.open.pending == std::vector<std::uint32_t>{0, 1});
    CHECK(gate.open.selections.size() == 2);
    REQUIRE(gate.aside.series.size() == 3);
    CHECK(gate.aside.series[2].fingerprint == series(2, 1)[0].fingerprint);
    CHECK(gate.aside.series[2].samples == 0);
    CHECK(gate.aside.open.pending == std::vector<std::uint32_t>{0, 1, 2});
    CHECK(gate.aside.open.hour == hour_of(at(11)));
    CHECK(gate.all.size() == 3);
}

TEST_CASE("incumbents wait where nobody has said that they need not") {
    gate_of_fleet gate{at_most(10), at(10)};
    gate.admit(series(0, 3), at(10));
    gate.lookup(series(0, 3), at(11));
    CHECK(gate.aside.series.empty());
    CHECK(gate.open.pending.size() == 3);
    SECTION("of another hour") {
        gate.accept(at(10));
    }
    SECTION("any more") {
        gate.accept(at(11));
        gate.all.stop();
    }
    SECTION("by these rules") {
        gate.accept(at(11));
        gate.limiter.reconfigure(at_most(9));
    }
    gate.lookup(series(0, 3), at(11));
    CHECK(gate.aside.series.empty());
    CHECK(gate.open.pending.size() == 3);
    CHECK(gate.all.size() == 0);
}

TEST_CASE("what is untold is accepted again, and told once") {
    gate_of_fleet gate{at_most(10), at(10)};
    gate.admit(series(0, 3), at(10));
    gate.accept(at(11));
    gate.lookup(series(0, 2), at(11));
    CHECK(gate.aside.series.size() == 2);
    gate.all.stop();
    gate.lookup(series(0, 3), at(11, 30));  // the grace is over, too
    CHECK(gate.verdicts == std::vector{verdict::known, verdict::known, verdict::unknown});
    CHECK(gate.aside.series.empty());
    CHECK(gate.open.pending == std::vector<std::uint32_t>{2});
}

TEST_CASE("incumbents pass after the grace, too, while the gate cannot say that it has told of all") {
    gate_of_fleet gate{at_most(10), at(23)};
    gate.admit(series(0, 3), at(23));
    gate.accept(at(0, 0, 0, 1));
    gate.lookup(series(0, 1), at(0, 0, 0, 1));
    CHECK(gate.aside.series.size() == 1);
    gate.lookup(series(1, 2), at(0, 40, 0, 1));
    CHECK(gate.aside.series.size() == 2);
}

TEST_CASE("what has been told is known, and what was refused then is refused from then on") {
    gate_of_fleet gate{at_most(10), at(10)};
    gate.admit(series(0, 3), at(10));
    gate.accept(at(11));
    const std::vector<heard_budget> heard{{.place = 0, .hourly = 7, .daily = 7, .awaited = 0}};
    SECTION("taken") {
        gate.lookup(series(0, 3), at(11));
        gate.tell({.outcome = told_outcome::taken, .heard = heard}, at(11));
        gate.lookup(series(0, 3), at(11));
        CHECK(gate.open.is_empty());
        CHECK(gate.verdicts == std::vector(3, verdict::known));
        CHECK(figures_of(gate.limiter).hourly.series_current == 7);
    }
    SECTION("refused") {
        gate.lookup(series(0, 3), at(11));
        CHECK(gate.tell({.outcome = told_outcome::refused, .heard = heard}, at(11)) ==
              std::vector(3, verdict::refused_hourly));
        CHECK(figures_of(gate.limiter).hourly.samples_refused == 0);  // they had passed
        gate.lookup(series(0, 3), at(11));
        CHECK(gate.open.pending.empty());
        CHECK(gate.verdicts == std::vector(3, verdict::refused_hourly));
    }
    CHECK(gate.all.size() == 0);
}

TEST_CASE("what was told of an hour that has ended is known in no other") {
    gate_of_fleet gate{at_most(10), at(10)};
    gate.admit(series(0, 3), at(10));
    gate.accept(at(11));
    gate.lookup(series(0, 3), at(11));
    gate.tell({.outcome = told_outcome::taken}, at(12));
    gate.accept(at(12));
    CHECK(gate.all.size() == 0);
    gate.lookup(series(0, 3), at(12));
    CHECK(gate.open.pending.size() == 3);  // nor was it in the hour before
}

TEST_CASE("no more are accepted at once than can be remembered") {
    gate_of_fleet gate{at_most(1000), at(10)};
    gate.admit(series(0, 150), at(10));
    gate.accept(at(11));
    gate.lookup(series(0, 150), at(11));
    CHECK(gate.aside.series.size() == 100);
    CHECK(gate.open.pending.size() == 50);
    CHECK(gate.all.size() == 100);
    gate.tell({.outcome = told_outcome::taken}, at(11));
    gate.lookup(series(0, 150), at(11));
    CHECK(gate.aside.series.size() == 50);
}

TEST_CASE("what no limit may refuse is told to nobody, and the groups of what is told go with it") {
    label_limit per_job = limit_named("per-job", {"job"}, {.hourly = 5, .daily = 0}, "{job=\"a\"}");
    limit_rules rules;
    rules.limits = {per_job};
    gate_of_fleet gate{rules, at(10)};
    gate.lookup(series(0, 2), at(10), {{"job", "free"}});
    gate.settle_taken(at(10));
    gate.admit(series(10, 2), at(10), {{"job", "a"}});
    gate.accept(at(11));
    gate.lookup(series(0, 2), at(11), {{"job", "free"}});
    CHECK(gate.aside.series.empty());
    CHECK(gate.open.pending.size() == 2);
    gate.lookup(series(10, 2), at(11), {{"job", "a"}});
    REQUIRE(gate.aside.open.selections.size() == 2);
    CHECK(gate.open.selections.size() == 0);
    gate.labels.entries.clear();  // the request is gone
    for (std::size_t i = 0; i < 2; ++i) {
        const rule_selections::one one = gate.aside.open.selections[i];
        REQUIRE(one.size() == 1);
        CHECK(one.limit_index(0) == 0);
        REQUIRE(one.key(0).has_value());
        CHECK(one.key(0)->find('a') != std::string_view::npos);
    }
}

TEST_CASE("refused for the sake of incumbents after the grace is refused, and not remembered") {
    gate_of_fleet gate{at_most(10), at(10)};
    gate.admit(series(0, 3), at(10));
    const std::uint64_t counted = GENERATE(7u, 10u);
    const std::vector<heard_budget> heard{{.place = 0, .hourly = counted, .daily = counted, .awaited = 3}};
    gate.lookup(series(50, 1), at(11, 30));
    told said{.hour = gate.open.hour, .pending = {{.outcome = told_outcome::refused, .heard = heard}}};
    REQUIRE(gate.limiter.commit(gate.offered, at(11, 30), gate.verdicts, gate.open, {}, &said));
    CHECK(gate.verdicts == std::vector{verdict::refused_hourly});
    CHECK(figures_of(gate.limiter).hourly.samples_refused == 1);
    gate.lookup(series(50, 1), at(11, 30));
    CHECK(gate.open.pending.size() == (counted == 7 ? 1 : 0));
}

TEST_CASE("what another gate has told of is not told again") {
    gate_of_fleet gate{at_most(10), at(10, 30)};
    const std::vector<offered_series> sent{{.fingerprint = 1, .samples = 1, .admits = true},
                                           {.fingerprint = 2, .samples = 1, .admits = true},
                                           {.fingerprint = 3, .samples = 1, .admits = true}};
    gate.admit(sent, at(10, 30));
    gate.accept(at(11));
    gate.lookup(sent, at(11));
    REQUIRE(gate.aside.open.pending.size() == 3);
    const std::vector<std::uint64_t> told{1, 3, 4};
    CHECK(gate.all.strike(hour_of(at(10)), told) == 0);
    CHECK(gate.all.strike(hour_of(at(11)), told) == 2);
    CHECK(gate.all.size() == 1);
    gate.all.keep_untold(gate.aside);
    REQUIRE(gate.aside.open.pending.size() == 1);
    CHECK(gate.aside.series[gate.aside.open.pending[0]].fingerprint == 2);
    CHECK(gate.aside.open.selections.size() == 1);
    CHECK(gate.all.strike(hour_of(at(11)), told) == 0);
    gate.all.strike(hour_of(at(11)), std::vector<std::uint64_t>{2});
    gate.all.keep_untold(gate.aside);
    CHECK(gate.aside.open.pending.empty());
}
