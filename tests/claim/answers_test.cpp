// What a gate makes of its store's answers, and what it asks about markers.
#include "claim/asking.hpp"
#include "limit/telling.hpp"
#include "support/catch.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;

TEST_CASE("series that nobody is asked about stand between those of a call") {
    limit_rules settings = three_limits();
    settings.exempt.push_back(selecting("{team=\"ants\"}"));
    asking gate{settings};
    gate.add({{"team", "ants"}}, 0).add({{"team", "bees"}}, 1).add({{"team", "ants"}}, 2).add({{"team", "bees"}}, 3);
    const auto calls = gate.ask();
    REQUIRE(calls.size() == 1);
    CHECK(calls[0].fingerprints == std::vector{fingerprint_of(1), fingerprint_of(3)});
    gate.answer({.outcome = store_outcome::known}).answers[0]->series[1] = taken;
    const fleet_decision said = gate.decide();
    REQUIRE(said.pending.size() == 4);
    CHECK(said.pending[0].outcome == decision_outcome::unasked);
    CHECK(said.pending[1].outcome == decision_outcome::known);
    CHECK(said.pending[2].outcome == decision_outcome::unasked);
    CHECK(said.pending[3].outcome == decision_outcome::taken);
    CHECK(said.hour == hour_of(at(10)));
}

TEST_CASE("markers are only looked for, after all others, and only those that this gate does not know") {
    asking gate{three_limits()};
    SECTION("beside series") {
        gate.add_marker(5).add({}, 0, 2).add_marker(6);
        const auto calls = gate.ask();
        REQUIRE(calls.size() == 1);
        CHECK(calls[0].fingerprints ==
              std::vector{fingerprint_of(0), fingerprint_of(1), fingerprint_of(5), fingerprint_of(6)});
        CHECK(calls[0].runs == runs{{.series = 2, .budgets = places{0, 1, 2}}, {.series = 2, .windows = {}}});
        gate.answer(taken);
        gate.answers[0]->series[2].outcome = store_outcome::unknown;
        gate.answers[0]->series[3].outcome = store_outcome::known;
        const fleet_decision said = gate.decide();
        CHECK(said.known_non_admitting == std::vector<bool>{false, true});
        CHECK(said.pending.size() == 2);
    }
    SECTION("alone, and more than a call has") {
        for (std::uint64_t i = 0; i < 130; ++i) gate.add_marker(i);
        const auto calls = gate.ask();
        REQUIRE(calls.size() == 2);
        CHECK(calls[0].budgets.empty());
        CHECK(calls[1].runs == runs{{.series = 2, .windows = {}}});
        gate.answer({.outcome = store_outcome::known}).answers[0] = std::nullopt;
        std::vector<bool> wanted(130, false);
        wanted[128] = wanted[129] = true;
        CHECK(gate.decide().known_non_admitting == wanted);
    }
    SECTION("known here from the hour before") {
        gate.add({}, 5).ask();
        gate.answer(taken).settle();
        gate.start();
        gate.add_marker(5).add_marker(6);
        const auto calls = gate.ask(at(11));
        REQUIRE(calls.size() == 1);
        CHECK(calls[0].fingerprints == fingerprints(6, 1));
        gate.answer({.outcome = store_outcome::known});
        CHECK(gate.decide().known_non_admitting == std::vector<bool>{false, true});
    }
}

TEST_CASE("who has refused is told by the place that the limiter has it in") {
    limit_rules settings{.global = {.hourly = 100}};
    settings.tenants.fallback.hourly = 50;
    settings.limits = {limit_named("observed", {"job"}, {.hourly = 1}),
                       limit_named("bees only", {"team"}, {.hourly = 10}, "{team=\"bees\"}"),
                       limit_named("teams", {"team"}, {.hourly = 20, .daily = 30})};
    settings.limits[0].mode = limit_mode::observe;
    asking gate{settings};
    gate.add({{"team", "ants"}}, 0, 2).add({{"team", "bees"}}, 2, 2);
    const auto calls = gate.ask();
    REQUIRE(calls.size() == 1);
    REQUIRE(calls[0].runs ==
            runs{{.series = 2, .budgets = places{0, 1, 2, 3}}, {.series = 2, .budgets = places{0, 1, 2, 4, 5}}});
    gate.answer(taken).answers[0]->series = {
        {.outcome = store_outcome::refused, .budget = 1},
        {.outcome = store_outcome::refused, .budget = 3, .window = refusing_window::daily},
        {.outcome = store_outcome::refused, .budget = 4},
        {.outcome = store_outcome::refused, .budget = 5},
    };
    gate.answers[0]->budgets = {{.hourly = 4, .daily = 40, .kept = 9},
                                {.hourly = 5, .daily = 50},
                                {.hourly = 6, .daily = 60},
                                {.hourly = 7, .daily = 70},
                                {.hourly = 8, .daily = 80},
                                {.is_overflow = true, .hourly = 9, .daily = 90}};
    const fleet_decision said = gate.decide();
    // Places: 0 the whole, 1 the tenant, then the limits that apply, in their order: 2 is the one that observes, 3 for
    // ants the teams', for bees their own.
    const auto told_at = [&said](std::size_t i) { return std::pair{said.pending[i].place, said.pending[i].window}; };
    for (const pending_decision& each : said.pending) CHECK(each.outcome == decision_outcome::refused);
    CHECK(told_at(0) == std::pair{1u, refusing_window::hourly});
    CHECK(told_at(1) == std::pair{3u, refusing_window::daily});
    CHECK(told_at(2) == std::pair{3u, refusing_window::hourly});
    CHECK(told_at(3) == std::pair{4u, refusing_window::hourly});
    CHECK(said.pending[0].budgets.size() == 4);
    REQUIRE(said.pending[2].budgets.size() == 5);
    CHECK(said.pending[0].at(0)->hourly == 4);
    CHECK(said.pending[0].at(0)->daily == 40);
    CHECK(said.pending[0].at(0)->reserved == 9);
    CHECK_FALSE(said.pending[0].at(0)->unasked);
    CHECK(said.pending[0].at(2)->hourly == 6);
    CHECK(said.pending[1].at(3)->hourly == 7);
    CHECK(said.pending[2].at(3)->hourly == 8);
    CHECK_FALSE(said.pending[2].at(3)->is_overflow);
    CHECK(said.pending[3].at(4)->daily == 90);
    CHECK(said.pending[3].at(4)->is_overflow);
}

TEST_CASE("series without an answer are what the gate says of those, by their budgets") {
    asking gate{three_limits()};
    gate.add({{"team", "ants"}}, 0, 128).add({{"team", "ants"}}, 128).add({{"team", "bees"}}, 129);
    REQUIRE(gate.ask().size() == 2);
    gate.answer(taken);
    const auto unanswered = GENERATE(decision_outcome::withheld, decision_outcome::passes);
    SECTION("no answer came") {
        gate.answers[1] = std::nullopt;
        CHECK(gate.decide(unanswered).pending[129].at(0)->unasked);
    }
    SECTION("the store waits for a refill") {
        for (series_decision& each : gate.answers[1]->series) each.outcome = store_outcome::waits;
    }
    std::vector<std::vector<shared_budget>> seen;
    const fleet_decision said = gate.decide([&](std::span<const shared_budget* const> budgets) {
        std::vector<shared_budget>& all = seen.emplace_back();
        for (const shared_budget* const each : budgets) all.push_back(*each);
        return unanswered;
    });
    const std::vector<shared_budget>& budgets = gate.asked.calls()[1].budgets;
    REQUIRE(budgets.size() == 4);
    CHECK(seen == std::vector{std::vector{budgets[0], budgets[1], budgets[2]},
                              std::vector{budgets[0], budgets[3], budgets[2]}});
    CHECK(said.pending[127].outcome == decision_outcome::taken);
    CHECK(said.pending[127].budgets.size() == 3);
    CHECK(said.pending[128].outcome == unanswered);
    CHECK(said.pending[129].outcome == unanswered);
    CHECK(said.pending[129].budgets.size() == 3);

    gate.answers.clear();
    for (const pending_decision& each : gate.decide(unanswered).pending) CHECK(each.outcome == unanswered);
}

TEST_CASE("a series that is taken without room says in which windows there was none") {
    asking gate{three_limits()};
    gate.add({}, 0, 3).ask();
    gate.answer(taken);
    const in_windows day{.day = true};
    const in_windows both{.hour = true, .day = true};
    gate.answers[0]->series[1] = {.outcome = store_outcome::completed, .without_room = day};
    gate.answers[0]->series[2] = {.outcome = store_outcome::completed, .without_room = both};
    const fleet_decision said = gate.decide();
    for (const pending_decision& each : said.pending) CHECK(each.outcome == decision_outcome::taken);
    CHECK_FALSE(said.pending[0].completed.any());
    CHECK(said.pending[1].completed == day);
    CHECK(said.pending[2].completed == both);
}

TEST_CASE("what is told says how often the store had lost its data before it was asked") {
    asking gate{three_limits()};
    tell_all(gate.limiter);
    gate.add({}, 0).ask();
    tell_all(gate.limiter);
    CHECK(gate.decide().losses + 1 == losses_of(gate.limiter));
}
