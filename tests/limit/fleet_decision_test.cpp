// A gate of a fleet: what a store has told decides, whatever this gate has counted.
#include "limit/verdict.hpp"

#include "limit/commit_state.hpp"
#include "limit/fleet_gate.hpp"
#include "support/catch.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;

TEST_CASE("what the store has counted is in the gate's hour, and nobody is asked about it again") {
    fleet_gate gate{three_limits()};
    CHECK(gate.offer(0, 1, at(10, 30), store_knows) == verdict_list{verdict::known});
    CHECK(gate.offer(1, 2, at(10, 30), store_takes) == verdict_list(2, verdict::admitted));
    CHECK(gate.lookup(0, 3, at(10, 59)) == 0);
    CHECK(gate.verdicts == verdict_list(3, verdict::known));
    CHECK(gate.lookup(0, 3, at(11)) == 3);
}

TEST_CASE("what the store says is admitted though this gate's own limits say no") {
    fleet_gate gate{{.global = {.hourly = 1}}};
    const std::vector<counted_budget> global{{.place = 0, .hourly = 4}};
    CHECK(gate.offer(0, 4, at(10, 30), {.outcome = decision_outcome::taken, .budgets = global}) ==
          verdict_list(4, verdict::admitted));
    CHECK(gate.lookup(0, 4, at(10, 31)) == 0);
}

TEST_CASE("the budget that the store names has refused, in the window that it names") {
    fleet_gate gate{three_limits()};
    const auto place = GENERATE(0u, 1u, 2u);
    const auto window = GENERATE(refusing_window::hourly, refusing_window::daily);
    gate.offer(7, 1, at(10, 30), store_takes);  // so that all its budgets are there
    const auto wanted = window == refusing_window::hourly ? verdict::refused_hourly : verdict::refused_daily;
    CHECK(gate.offer(0, 2, at(10, 31), refused_by_budget(place, window)) == verdict_list(2, wanted));
    const char* const names[] = {"global", "tenant", "jobs"};
    CHECK(gate.refused_by(0) == names[place]);
    CHECK(gate.refused_by(1) == names[place]);
    const limiter_figures figures = gate.figures();
    const window_figures& refusing = window == refusing_window::hourly ? figures.hourly : figures.daily;
    CHECK(refusing.series_refused == 2);
    CHECK(refusing.samples_refused == 4);
    // It is remembered, with the samples that are refused again.
    CHECK(gate.lookup(0, 2, at(10, 59)) == 0);
    CHECK(gate.commit(gate.saying({}), at(10, 59)) == verdict_list(2, wanted));
    const limiter_figures later = gate.figures();
    CHECK((window == refusing_window::hourly ? later.hourly : later.daily).samples_refused == 8);
}

TEST_CASE("budgets show what all gates have counted") {
    fleet_gate gate{three_limits()};
    gate.offer(0, 1, at(10, 30), store_takes);
    const auto check = [&gate] {
        const limiter_figures figures = gate.figures();
        CHECK(figures.hourly.series_current == 7);
        CHECK(figures.daily.series_current == 9);
        REQUIRE(figures.tenants.size() == 1);
        CHECK(figures.tenants[0].hourly.series_current == 3);
        CHECK(figures.tenants[0].daily.series_current == 4);
        REQUIRE(figures.limits.size() == 1);
        CHECK(figures.limits[0].hourly.series_current == 2);
        CHECK(figures.limits[0].daily.series_current == 2);
    };
    check();
    SECTION("the answers of two claims may come in any order") {
        const std::vector<counted_budget> earlier{{.place = 0, .hourly = 5, .daily = 6},
                                                  {.place = 1, .hourly = 1, .daily = 1},
                                                  {.place = 2, .hourly = 1, .daily = 1}};
        gate.offer(1, 1, at(10, 31), {.outcome = decision_outcome::taken, .budgets = earlier});
        check();
    }
    SECTION("a refusal says it, too") {
        const bool unasked = GENERATE(false, true);
        const std::vector<counted_budget> later{{.place = 0, .hourly = 10, .daily = 12, .unasked = unasked}};
        gate.offer(1, 1, at(10, 31), {.outcome = decision_outcome::refused, .budgets = later});
        CHECK(gate.figures().hourly.series_current == 10);
        CHECK(gate.figures().daily.series_current == 12);
    }
    SECTION("a new hour begins with nothing, the day goes on") {
        gate.limiter.maintain(at(11));
        CHECK(gate.figures().hourly.series_current == 0);
        CHECK(gate.figures().daily.series_current == 9);
    }
}

TEST_CASE("series that the store counts in overflow budgets count there, although the gate has others for them") {
    fleet_gate gate{three_limits()};
    gate.offer(0, 1, at(10, 30), store_takes);
    const std::vector<counted_budget> shared{{.place = 0, .hourly = 8, .daily = 9},
                                             {.place = 1, .hourly = 40, .daily = 41, .is_overflow = true},
                                             {.place = 2, .hourly = 30, .daily = 31, .is_overflow = true}};
    const auto check = [](const std::vector<budget_figures>& all, std::uint64_t own, std::uint64_t overflow) {
        REQUIRE(all.size() == 2);
        for (const budget_figures& each : all)
            CHECK(each.hourly.series_current == (each.name.overflow ? overflow : own));
    };
    SECTION("taken") {
        CHECK(gate.offer(1, 1, at(10, 31), {.outcome = decision_outcome::taken, .budgets = shared}) ==
              verdict_list{verdict::admitted});
        check(gate.figures().tenants, 3, 40);
        check(gate.figures().limits, 2, 30);
        const std::uint64_t one = fingerprint_in(gate.sent, 1);
        const telling told_again = describe(gate.limiter, {&one, 1}, tell_kind::refills);
        REQUIRE(told_again.budgets.size() == 1);
        for (const named_budget& each : told_again.budgets[0])
            CHECK(each.role.overflow == (each.role.kind != budget_kind::global));
    }
    SECTION("refused") {
        gate.offer(1, 1, at(10, 31), {.outcome = decision_outcome::refused, .place = 2, .budgets = shared});
        CHECK(gate.refused_by(0) == "jobs");
        CHECK(gate.figures().hourly.series_current == 8);
        CHECK(gate.figures().tenants.at(0).hourly.series_current == 3);
        CHECK(gate.figures().limits.at(0).hourly.series_current == 2);
    }
}

TEST_CASE("nothing is counted twice") {
    limit_rules settings = three_limits();
    settings.global.daily = settings.tenants.fallback.daily = settings.limits[0].maxima.daily = 0;
    fleet_gate gate{settings};
    SECTION("a series that stands twice in a request") {
        gate.lookup(0, 1, at(10, 30));
        gate.offered.push_back(gate.offered[0]);
        REQUIRE(gate.look_up_again(at(10, 30)) == 2);
        fleet_decision said = gate.saying(store_takes);
        said.pending[1].outcome = decision_outcome::known;
        CHECK(gate.commit(said, at(10, 30)) == verdict_list{verdict::admitted, verdict::known});
    }
    SECTION("two requests that were asked at once") {
        fleet_gate& first = gate;
        first.lookup(0, 1, at(10, 30));
        lookup_result open = first.open;
        const fleet_decision said = first.saying(store_takes);
        std::vector<verdict> others{verdict::unknown};
        CHECK(first.commit(said, at(10, 30)) == verdict_list{verdict::admitted});
        CHECK(first.limiter.commit(first.offered, at(10, 30), others, open, {.tenant = "red"}, &said));
        CHECK(others == verdict_list{verdict::known});
    }
    CHECK(gate.figures().hourly.series_current == 7);  // as heard, once
    CHECK(gate.figures().tenants.at(0).hourly.series_current == 3);
}

TEST_CASE("exempt series, and those that limits only observe, are decided by the gate alone") {
    limit_rules settings;
    SECTION("exempt") {
        settings.global.hourly = 1;
        settings.exempt.push_back(selecting("{job=\"api\"}"));
        fleet_gate gate{settings};
        CHECK(gate.offer(0, 3, at(10, 30), {}) == verdict_list(3, verdict::admitted));
        CHECK(gate.figures().exempt_hourly == 3);
        CHECK(gate.figures().hourly.series_current == 0);
        CHECK(gate.lookup(0, 3, at(10, 30)) == 0);
    }
    SECTION("observed") {
        settings = three_limits();
        settings.mode = limit_mode::observe;
        fleet_gate gate{settings};
        CHECK(gate.offer(0, 4, at(10, 30), {}) == verdict_list(4, verdict::admitted));
        CHECK(gate.figures().hourly.series_current == 4);
        CHECK(gate.figures().limits.at(0).hourly.series_refused == 1);
    }
    SECTION("not limited") {
        fleet_gate gate{settings};
        CHECK(gate.offer(0, 4, at(10, 30), {}) == verdict_list(4, verdict::admitted));
        CHECK(gate.figures().hourly.series_current == 4);
    }
    SECTION("a limit that observes, beside one that is shared") {
        settings.global.hourly = 10;
        settings.limits = {limit_named("jobs", {}, {.hourly = 1})};
        settings.limits[0].mode = limit_mode::observe;
        fleet_gate gate{settings};
        const std::vector<counted_budget> global{{.place = 0, .hourly = 5}};
        CHECK(gate.offer(0, 3, at(10, 30), {.outcome = decision_outcome::taken, .budgets = global}) ==
              verdict_list(3, verdict::admitted));
        CHECK(gate.figures().hourly.series_current == 5);
        CHECK(gate.figures().limits.at(0).hourly == tally{.current = 1, .refused = 2});
    }
}

TEST_CASE("a marker passes if this gate or another knows its series, and is dropped if nobody does") {
    fleet_gate gate{three_limits()};
    gate.offer(0, 1, at(10, 30), store_takes);
    gate.lookup(0, 3, at(11), false);
    REQUIRE(gate.open.non_admitting.size() == 3);
    fleet_decision said = gate.saying({});
    said.known_non_admitting = {false, true, false};
    CHECK(gate.commit(said, at(11)) == verdict_list{verdict::known, verdict::known, verdict::unknown});
    CHECK(gate.lookup(1, 1, at(11)) == 1);  // it was not admitted
    CHECK(gate.figures().hourly.series_current == 0);
}

// A gate of a fleet: how long what a store has told holds, and what comes too late.
TEST_CASE("a refusal by a budget that this gate has not seen yet is one, too") {
    fleet_gate gate{three_limits()};
    CHECK(gate.offer(0, 1, at(10, 30), refused_by_budget(2)) == verdict_list{verdict::refused_hourly});
    CHECK(gate.refused_by(0) == "jobs");
    CHECK(gate.figures().limits.empty());  // a refusal leaves no budgets behind
    CHECK(gate.lookup(0, 1, at(10, 31)) == 0);
}

TEST_CASE("a series is refused like another of its histogram only if that one is decided") {
    limit_rules rules = three_limits();
    rules.whole_histograms = true;
    fleet_gate gate{rules};
    gate.offer(7, 1, at(10, 30), store_takes);
    gate.lookup(0, 2, at(10, 31));
    fleet_decision said = gate.saying(refused_by_budget(1, refusing_window::hourly));
    said.pending[0] = {.outcome = decision_outcome::refused_with_histogram, .like = 1};
    gate.verdicts[1] = verdict::refused_daily;  // of an earlier request
    CHECK(gate.commit(said, at(10, 31)) == verdict_list(2, verdict::refused_hourly));
}

TEST_CASE("a refusal is forgotten with the hour, and with the rules that it was by") {
    fleet_gate gate{three_limits()};
    gate.offer(0, 1, at(10, 30), refused_by_budget(0));
    CHECK(gate.lookup(0, 1, at(10, 59, 59)) == 0);
    SECTION("the hour") {
        CHECK(gate.lookup(0, 1, at(11)) == 1);
    }
    SECTION("the rules") {
        gate.limiter.reconfigure(three_limits());
        CHECK(gate.lookup(0, 1, at(10, 59, 59)) == 1);
    }
}

TEST_CASE("a refusal in the grace is forgotten with it, whether or not the gate has seen the hour before") {
    const bool was_there = GENERATE(true, false);
    fleet_gate gate{three_limits(), was_there ? at(10, 30) : at(11, 1)};
    CHECK(gate.offer(0, 1, at(11, 2), refused_by_budget(0)) == verdict_list{verdict::refused_hourly});
    CHECK(gate.lookup(0, 1, at(11, 9, 59)) == 0);
    CHECK(gate.lookup(0, 1, at(11, 10)) == 1);
    gate.commit(gate.saying(refused_by_budget(0)), at(11, 10));
    CHECK(gate.lookup(0, 1, at(11, 59)) == 0);
}

TEST_CASE("a refusal after the grace is not remembered if nothing but kept places is in the way") {
    struct row {
        refusing_window window;
        std::uint64_t hourly, daily, reserved;
        std::size_t asked_again;
    };
    for (const auto& [window, hourly, daily, reserved, asked_again] :
         std::vector<row>{{refusing_window::hourly, 9, 20, 1, 1},
                          {refusing_window::daily, 9, 19, 1, 1},
                          {refusing_window::daily, 9, 20, 1, 0},      // a day that is full
                          {refusing_window::hourly, 10, 20, 1, 0},    // an hour that is full
                          {refusing_window::hourly, 9, 20, 0, 0}}) {  // without a place that is kept
        CAPTURE(hourly, daily, reserved);
        fleet_gate gate{three_limits()};
        const std::vector<counted_budget> global{{.place = 0, .hourly = hourly, .daily = daily, .reserved = reserved}};
        gate.offer(0, 1, at(11, 10), {.outcome = decision_outcome::refused, .window = window, .budgets = global});
        CHECK(gate.refused_by(0) == "global");
        CHECK(gate.lookup(0, 1, at(11, 10)) == asked_again);
    }
}

TEST_CASE("a grace that other rules make longer keeps its refusals to its new end") {
    const bool was_there = GENERATE(true, false);
    limit_rules settings = three_limits();
    fleet_gate gate{settings, was_there ? at(10, 30) : at(11)};
    gate.limiter.maintain(at(11));
    settings.incumbent_grace = std::chrono::minutes{30};
    gate.limiter.reconfigure(settings);
    gate.offer(0, 1, at(11, 20), refused_by_budget(0));
    CHECK(gate.lookup(0, 1, at(11, 29, 59)) == 0);
    CHECK(gate.lookup(0, 1, at(11, 30)) == 1);
}

TEST_CASE("what nobody has answered is refused and asked again the next time, or passes and is known") {
    fleet_gate gate{three_limits()};
    CHECK(gate.offer(0, 2, at(10, 30), {.outcome = decision_outcome::withheld}) ==
          verdict_list(2, verdict::refused_hourly));
    CHECK(gate.refused_by(0) == "__unavailable__");
    CHECK(gate.figures().hourly == tally{.refused = 0, .samples_refused = 4});
    CHECK(gate.lookup(0, 2, at(10, 30)) == 2);
    CHECK(gate.offer(0, 2, at(10, 30), {.outcome = decision_outcome::passes}) == verdict_list(2, verdict::admitted));
    CHECK(gate.lookup(0, 2, at(10, 30)) == 0);
    CHECK(gate.figures().hourly == tally{.current = 2, .samples_refused = 4});
}

TEST_CASE("a series that a limit applies to and that nobody was asked about is withheld") {
    fleet_gate gate{three_limits()};
    CHECK(gate.offer(0, 1, at(10, 30), {.outcome = decision_outcome::unasked}) ==
          verdict_list{verdict::refused_hourly});
    CHECK(gate.refused_by(0) == "__unavailable__");
    CHECK(gate.lookup(0, 1, at(10, 30)) == 1);
    SECTION("without a telling, too") {
        CHECK(gate.limiter.commit(gate.offered, at(10, 30), gate.verdicts, gate.open, {.tenant = "red"}));
        CHECK(gate.verdicts == verdict_list{verdict::refused_hourly});
        CHECK(gate.lookup(0, 1, at(10, 30)) == 1);
    }
}

TEST_CASE("what was told of an hour that has ended decides its request and is inserted nowhere") {
    fleet_gate gate{three_limits()};
    gate.offer(9, 1, at(10, 30), store_takes);
    gate.lookup(0, 4, at(10, 59, 59));
    fleet_decision said = gate.saying({});
    const pending_decision withheld{.outcome = decision_outcome::withheld, .budgets = counted_by_all};
    said.pending = {store_knows, store_takes, refused_by_budget(1, refusing_window::daily), withheld};
    CHECK(gate.commit(said, at(11)) ==
          verdict_list{verdict::known, verdict::admitted, verdict::refused_daily, verdict::refused_hourly});
    CHECK(gate.refused_by(2) == "__other__");
    CHECK(gate.refused_by(3) == "__unavailable__");
    CHECK(gate.lookup(0, 4, at(11)) == 4);
    CHECK(gate.figures().hourly.series_current == 0);
    CHECK(gate.figures().daily.series_current == 9);  // as heard before
}

TEST_CASE("what was told by other rules decides its request and is inserted nowhere") {
    fleet_gate gate{three_limits()};
    gate.lookup(0, 2, at(10, 30));
    fleet_decision said = gate.saying(store_takes);
    said.pending[1] = refused_by_budget(2);
    gate.limiter.reconfigure({.global = {.hourly = 10}});
    CHECK(gate.commit(said, at(10, 30)) == verdict_list{verdict::admitted, verdict::refused_hourly});
    CHECK(gate.lookup(0, 2, at(10, 30)) == 2);
    CHECK(gate.figures().hourly.series_current == 0);
}

TEST_CASE("what needed no telling is decided anew when the hour has ended or the rules have changed") {
    limit_rules settings = three_limits();
    settings.exempt.push_back(selecting("{job=\"api\"}"));
    fleet_gate gate{settings};
    gate.lookup(0, 1, at(10, 59, 59));
    const fleet_decision said = gate.saying({});
    SECTION("the hour") {
        CHECK(gate.commit(said, at(11)) == verdict_list{verdict::admitted});
        CHECK(gate.lookup(0, 1, at(11)) == 0);
    }
    SECTION("the rules: now it would have to be asked") {
        gate.limiter.reconfigure(three_limits());
        CHECK(gate.commit(said, at(10, 59, 59)) == verdict_list{verdict::refused_hourly});
        CHECK(gate.refused_by(0) == "__unavailable__");
    }
}

TEST_CASE("a gate of a fleet follows its store's clock at once") {
    fleet_gate gate{three_limits(), at(15, 20)};  // by its own clock
    gate.offer(0, 1, at(15, 20), store_takes);
    const auto hour = [&gate](time_point now) {
        gate.lookup(0, 1, now);
        CHECK_FALSE(gate.limiter.sets()->leap.has_value());
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
