// A gate of a fleet: how long what a store has told holds, and what comes too late.
#include "limit/told.hpp"

#include "limit/told_gate.hpp"
#include "support/catch.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;

TEST_CASE("a refusal by a budget that this gate has not seen yet is one, too") {
    told_gate gate{three_limits()};
    CHECK(gate.offer(0, 1, at(10, 30), refused_by_budget(2)) == verdict_list{verdict::refused_hourly});
    CHECK(gate.refused_by(0) == "jobs");
    CHECK(gate.figures().limits.empty());  // a refusal leaves no budgets behind
    CHECK(gate.look_up(0, 1, at(10, 31)) == 0);
}

TEST_CASE("a refusal is forgotten with the hour, and with the rules that it was by") {
    told_gate gate{three_limits()};
    gate.offer(0, 1, at(10, 30), refused_by_budget(0));
    CHECK(gate.look_up(0, 1, at(10, 59, 59)) == 0);
    SECTION("the hour") {
        CHECK(gate.look_up(0, 1, at(11)) == 1);
    }
    SECTION("the rules") {
        gate.limiter.reconfigure(three_limits());
        CHECK(gate.look_up(0, 1, at(10, 59, 59)) == 1);
    }
}

TEST_CASE("a refusal in the grace is forgotten with it, whether or not the gate has seen the hour before") {
    const bool was_there = GENERATE(true, false);
    told_gate gate{three_limits(), was_there ? at(10, 30) : at(11, 1)};
    gate.look_up(0, 1, at(11, 2));
    told said = gate.saying(refused_by_budget(0));
    said.in_grace = true;
    CHECK(gate.settle(said, at(11, 2)) == verdict_list{verdict::refused_hourly});
    CHECK(gate.look_up(0, 1, at(11, 9, 59)) == 0);
    CHECK(gate.look_up(0, 1, at(11, 10)) == 1);
    gate.settle(gate.saying(refused_by_budget(0)), at(11, 10));
    CHECK(gate.look_up(0, 1, at(11, 59)) == 0);
}

TEST_CASE("a refusal of the grace that comes after it decides its request and is not remembered") {
    told_gate gate{three_limits()};
    gate.look_up(0, 1, at(11, 9, 59));
    told said = gate.saying(refused_by_budget(1));
    said.in_grace = true;
    gate.limiter.maintain(at(11, 10));
    CHECK(gate.settle(said, at(11, 10)) == verdict_list{verdict::refused_hourly});
    CHECK(gate.refused_by(0) == "__other__");
    CHECK(gate.look_up(0, 1, at(11, 10)) == 1);
}

TEST_CASE("a grace that other rules make longer keeps its refusals to its new end") {
    const bool was_there = GENERATE(true, false);
    limit_rules settings = three_limits();
    told_gate gate{settings, was_there ? at(10, 30) : at(11)};
    gate.limiter.maintain(at(11));
    settings.incumbent_grace = std::chrono::minutes{30};
    gate.limiter.reconfigure(settings);
    gate.offer(0, 1, at(11, 20), refused_by_budget(0));
    CHECK(gate.look_up(0, 1, at(11, 29, 59)) == 0);
    CHECK(gate.look_up(0, 1, at(11, 30)) == 1);
}

TEST_CASE("what nobody has answered is refused or passes, and is asked again the next time") {
    told_gate gate{three_limits()};
    CHECK(gate.offer(0, 2, at(10, 30), {.outcome = told_outcome::withheld}) ==
          verdict_list(2, verdict::refused_hourly));
    CHECK(gate.refused_by(0) == "__unavailable__");
    CHECK(gate.figures().hourly == counts{.refused = 0, .samples_refused = 4});
    CHECK(gate.look_up(0, 2, at(10, 30)) == 2);
    CHECK(gate.offer(0, 2, at(10, 30), {.outcome = told_outcome::let_pass}) == verdict_list(2, verdict::admitted));
    CHECK(gate.look_up(0, 2, at(10, 30)) == 2);
    CHECK(gate.figures().hourly == counts{.current = 0, .samples_refused = 4});
}

TEST_CASE("a series that a limit applies to and that nobody was asked about is withheld") {
    told_gate gate{three_limits()};
    CHECK(gate.offer(0, 1, at(10, 30), {.outcome = told_outcome::unasked}) == verdict_list{verdict::refused_hourly});
    CHECK(gate.refused_by(0) == "__unavailable__");
    CHECK(gate.look_up(0, 1, at(10, 30)) == 1);
    SECTION("without a telling, too") {
        CHECK(gate.limiter.settle(gate.offered, at(10, 30), gate.verdicts, gate.open, {.tenant = "red"}));
        CHECK(gate.verdicts == verdict_list{verdict::refused_hourly});
        CHECK(gate.look_up(0, 1, at(10, 30)) == 1);
    }
}

TEST_CASE("what was told of an hour that has ended decides its request and is inserted nowhere") {
    told_gate gate{three_limits()};
    gate.offer(9, 1, at(10, 30), outcome_of(told_outcome::taken));
    gate.look_up(0, 4, at(10, 59, 59));
    told said = gate.saying({});
    said.pending = {outcome_of(told_outcome::known), outcome_of(told_outcome::taken),
                    refused_by_budget(1, refusing_window::daily), outcome_of(told_outcome::withheld)};
    CHECK(gate.settle(said, at(11)) ==
          verdict_list{verdict::known, verdict::admitted, verdict::refused_daily, verdict::refused_hourly});
    CHECK(gate.refused_by(2) == "__other__");
    CHECK(gate.refused_by(3) == "__unavailable__");
    CHECK(gate.look_up(0, 4, at(11)) == 4);
    CHECK(gate.figures().hourly.series_current == 0);
    CHECK(gate.figures().daily.series_current == 9);  // as heard before
}

TEST_CASE("what was told by other rules decides its request and is inserted nowhere") {
    told_gate gate{three_limits()};
    gate.look_up(0, 2, at(10, 30));
    told said = gate.saying(outcome_of(told_outcome::taken));
    said.pending[1] = refused_by_budget(2);
    gate.limiter.reconfigure({.global = {.hourly = 10}});
    CHECK(gate.settle(said, at(10, 30)) == verdict_list{verdict::admitted, verdict::refused_hourly});
    CHECK(gate.look_up(0, 2, at(10, 30)) == 2);
    CHECK(gate.figures().hourly.series_current == 0);
}

TEST_CASE("what needed no telling is decided anew when the hour has ended or the rules have changed") {
    limit_rules settings = three_limits();
    settings.exempt.push_back(selecting("{job=\"api\"}"));
    told_gate gate{settings};
    gate.look_up(0, 1, at(10, 59, 59));
    const told said = gate.saying({});
    SECTION("the hour") {
        CHECK(gate.settle(said, at(11)) == verdict_list{verdict::admitted});
        CHECK(gate.look_up(0, 1, at(11)) == 0);
    }
    SECTION("the rules: now it would have to be asked") {
        gate.limiter.reconfigure(three_limits());
        CHECK(gate.settle(said, at(10, 59, 59)) == verdict_list{verdict::refused_hourly});
        CHECK(gate.refused_by(0) == "__unavailable__");
    }
}

TEST_CASE("a gate of a fleet follows its store's clock at once") {
    told_gate gate{three_limits(), at(15, 20)};  // by its own clock
    gate.offer(0, 1, at(15, 20), outcome_of(told_outcome::taken));
    const auto hour = [&gate](time_point now) {
        gate.look_up(0, 1, now);
        CHECK_FALSE(gate.limiter.clock_in_doubt());
        return gate.open.hour;
    };
    SECTION("forward by days") {
        CHECK(hour(at(9, 10, 0, 3)) == hour_of(at(9, 0, 0, 3)));
    }
    SECTION("back by days") {
        CHECK(hour(at(9, 10, 0, -3)) == hour_of(at(9, 0, 0, -3)));
    }
    SECTION("back by half an hour, into the hour before") {
        CHECK(hour(at(14, 50)) == hour_of(at(14)));
        CHECK(gate.open.pending.size() == 1);
        CHECK(hour(at(15)) == hour_of(at(15)));
        CHECK(gate.open.pending.size() == 1);
    }
    SECTION("back by as much as its store opens hours early, it stays") {
        CHECK(hour(at(14, 59, 55)) == hour_of(at(15)));
        CHECK(gate.open.pending.empty());
        CHECK(hour(at(14, 59, 54)) == hour_of(at(14)));
    }
}
