// Nobody is asked about series of budgets that are known to be spent.
#include "claim/asking.hpp"
#include "limit/budget_table.hpp"
#include "support/catch.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;

TEST_CASE("a group of series with a spent budget is refused unasked, the others are asked about") {
    asking gate{three_limits()};
    gate.add({{"team", "ants"}}, 0, 2).add({{"team", "bees"}}, 10).add({{"team", "ants"}}, 2);
    REQUIRE(gate.ask().size() == 1);
    const std::uint64_t ants = gate.asked.calls()[0].budgets[1].id;

    gate.hear(ants, 9);
    CHECK(gate.ask()[0].fingerprints.size() == 4);
    CHECK(gate.asked.unasked_count() == 0);

    gate.hear(ants, 10);
    const auto calls = gate.ask();
    REQUIRE(calls.size() == 1);
    CHECK(calls[0].fingerprints == fingerprints(10, 1));
    CHECK(gate.asked.unasked_count() == 3);
    const fleet_decision said = gate.answer(taken).decide(decision_outcome::passes);
    REQUIRE(said.pending.size() == 4);
    CHECK(said.pending[2].outcome == decision_outcome::taken);
    for (const std::size_t i : {0u, 1u, 3u}) {
        CHECK(said.pending[i].outcome == decision_outcome::refused);
        CHECK(said.pending[i].window == refusing_window::hourly);
        CHECK(said.pending[i].place == first_limit_place);
        REQUIRE(said.pending[i].budgets.size() == 3);
        CHECK(said.pending[i].budgets[1].hourly == 10);
        CHECK(said.pending[i].budgets[1].unasked);
    }
    CHECK(gate.commit(said) ==
          std::vector{verdict::refused_hourly, verdict::refused_hourly, verdict::admitted, verdict::refused_hourly});
    CHECK(gate.ask().empty());  // they are remembered as refused
    CHECK(gate.asked.unasked_count() == 0);
}

TEST_CASE("with all budgets spent no call is left") {
    asking gate{three_limits()};
    gate.add({{"team", "ants"}}, 0, 300).add({{"team", "bees"}}, 300, 300);
    const std::vector<shared_budget> budgets = gate.ask()[0].budgets;
    gate.hear(budgets[0].id, 100);
    gate.hear(budgets[1].id, 10);
    CHECK(gate.ask().empty());
    CHECK(gate.asked.unasked_count() == 600);
    for (const pending_decision& each : gate.decide(decision_outcome::passes).pending) {
        CHECK(each.outcome == decision_outcome::refused);
        CHECK(each.place == 0);  // the first that is spent
    }
    gate.asked.start();
    CHECK(gate.asked.unasked_count() == 0);
    CHECK(gate.decide().pending.empty());
}

TEST_CASE("the maximum is this gate's, and no budget that it only observes is spent") {
    limit_rules settings = three_limits();
    asking gate{settings};
    gate.add({{"team", "ants"}}, 0, 5);
    const std::vector<shared_budget> budgets = gate.ask()[0].budgets;
    gate.hear(budgets[0].id, 100);
    CHECK(gate.ask().empty());
    SECTION("another maximum") {
        settings.global.hourly = 101;
    }
    SECTION("none") {
        settings.global.hourly = 0;
    }
    SECTION("observed") {
        gate.hear(budgets[1].id, 100);
        settings.global.hourly = 101;
        settings.limits[0].mode = limit_mode::observe;
    }
    gate.limiter.reconfigure(settings);
    CHECK(gate.ask().size() == 1);
}

TEST_CASE("a gate asks about spent budgets unless it knows all that was counted in the hour of its lookups") {
    asking gate{three_limits()};
    gate.add({{"team", "ants"}}, 0, 5);
    gate.hear(gate.ask()[0].budgets[0].id, 100);
    SECTION("another hour") {
        CHECK(gate.ask(at(11)).size() == 1);
    }
    SECTION("it does not follow the feed") {
        gate.view.set_fresh_until({});
        CHECK(gate.ask().size() == 1);
    }
    SECTION("the store is refilled") {
        gate.view.set_state(store_reach::refilling);
        CHECK(gate.ask().size() == 1);
    }
    CHECK(gate.asked.unasked_count() == 0);
}
