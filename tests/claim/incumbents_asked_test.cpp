// Which series of the hour before a gate asks its store about, and which pass.
#include "claim/asking.hpp"
#include "limit/learning.hpp"
#include "limit/telling.hpp"
#include "support/catch.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;

namespace {

/// The hour before: whether a gate knows how many series budgets had in it.
using counts_before = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

/// A gate that has admitted two series of the ants at half past ten. At eleven it gets them again, and two new ones.
struct incumbents_scene : asking {
    std::vector<shared_budget> budgets{};  // all, ants, those without a job

    explicit incumbents_scene(const limit_rules& rules = three_limits()) : asking(rules) {
        budgets = add({{"team", "ants"}}, 0, 2).ask()[0].budgets;
        answer(taken).settle();
        enter_eleven();
        add({{"team", "ants"}}, 2, 2);
    }
    void hear_before(const counts_before& counts) {
        view.hear_record(counts, hour_number(at(11)), &fleet_view::budget_counts::before);
    }
    std::span<const store_call> ask() { return asking::ask(at(11)); }

    /// What becomes of each series if the store says the same of all, and this is the count of the ants.
    std::vector<decision_outcome> outcomes(const series_decision& each, const budget_in_store& ants = {}) {
        answers.clear();
        answer(each).answers.at(0)->budgets.at(1) = ants;
        return outcomes_of(decide());
    }
    std::vector<decision_outcome> unanswered() {
        answers.clear();
        return outcomes_of(decide());
    }

  private:
    static std::vector<decision_outcome> outcomes_of(const fleet_decision& said) {
        std::vector<decision_outcome> all;
        for (const pending_decision& one : said.pending) all.push_back(one.outcome);
        return all;
    }
};

const series_decision refused_by_ants{.outcome = store_outcome::refused, .budget = 1};

/// Of the two of the hour before, and of the two new ones.
std::vector<decision_outcome> both(decision_outcome before, decision_outcome fresh) {
    return {before, before, fresh, fresh};
}

}  // namespace

TEST_CASE("series of the hour before pass unasked, if no budget of theirs had more than its maximum") {
    incumbents_scene gate;
    gate.hear_before({{gate.budgets[0].id, 100}, {gate.budgets[1].id, 10}});
    const auto calls = gate.ask();
    REQUIRE(calls.size() == 1);
    CHECK(calls[0].fingerprints == fingerprints(2, 2));
    CHECK(gate.asked.unasked_count() == 0);  // they are not refused
    const fleet_decision said = gate.answer(taken).decide();
    for (const std::size_t i : {0u, 1u}) {
        CHECK(said.pending[i].outcome == decision_outcome::passes);
        REQUIRE(said.pending[i].budgets.size() == 3);
        CHECK(said.pending[i].at(2)->unasked);
    }
    CHECK(said.pending[2].outcome == decision_outcome::taken);
    CHECK(gate.commit(said, at(11)) == std::vector(4, verdict::admitted));
    CHECK(gate.ask().empty());
}

TEST_CASE("a gate that accepts no series of the hour before asks about them, even if their budgets are spent") {
    incumbents_scene gate;
    gate.accepts_incumbents = false;
    gate.hear_before({});
    CHECK(gate.ask()[0].runs ==
          runs{{.series = 2, .budgets = places{0, 1, 2}}, {.series = 2, .budgets = places{0, 1, 2}}});
    gate.hear(gate.budgets[1].id, 10);
    const auto calls = gate.ask();
    REQUIRE(calls.size() == 1);
    CHECK(calls[0].fingerprints == fingerprints(0, 2));
    CHECK(gate.asked.unasked_count() == 2);
    CHECK(gate.unanswered() == both(decision_outcome::withheld, decision_outcome::refused));
}

TEST_CASE("where a budget had more than its maximum, all of its series ask for room") {
    incumbents_scene gate;
    const std::size_t over_full = GENERATE(0u, 1u, 2u);
    gate.hear_before({{gate.budgets[over_full].id, gate.budgets[over_full].maxima.hourly + 1}});
    CHECK(gate.ask()[0].fingerprints == fingerprints(0, 4));
    CHECK(gate.unanswered() == both(decision_outcome::withheld, decision_outcome::withheld));
    CHECK(gate.outcomes(refused_by_ants, {.hourly = 9}) == both(decision_outcome::refused, decision_outcome::refused));
}

TEST_CASE("while a gate does not know what budgets had, their series ask, and pass unless a budget is full") {
    limit_rules settings = three_limits();
    settings.limits[0].maxima.daily = 30;
    settings.limits[0].overrides = {{.group = {{"team", "__overflow__"}}, .maxima = {.hourly = 3}}};
    incumbents_scene gate{settings};
    CHECK(gate.ask()[0].fingerprints == fingerprints(0, 4));
    gate.hear(gate.budgets[1].id, 10);
    CHECK(gate.ask()[0].fingerprints == fingerprints(0, 2));  // whatever is known of the budget
    gate.view.set_fresh_until({});
    gate.ask();

    const auto pass = both(decision_outcome::passes, decision_outcome::refused);
    const auto refused = both(decision_outcome::refused, decision_outcome::refused);
    series_decision each = refused_by_ants;
    SECTION("of the hour") {
        CHECK(gate.outcomes(each, {.hourly = 9, .daily = 30, .kept = 1}) == pass);
        CHECK(gate.outcomes(each, {.hourly = 10}) == refused);
    }
    SECTION("of the day") {
        each.window = refusing_window::daily;
        CHECK(gate.outcomes(each, {.hourly = 10, .daily = 29, .kept = 1}) == pass);
        CHECK(gate.outcomes(each, {.hourly = 9, .daily = 30}) == refused);
    }
    SECTION("the overflow budget") {
        CHECK(gate.outcomes(each, {.is_overflow = true, .hourly = 2, .kept = 1}) == pass);
        CHECK(gate.outcomes(each, {.is_overflow = true, .hourly = 3}) == refused);
    }
    SECTION("without an answer") {
        CHECK(gate.unanswered() == both(decision_outcome::passes, decision_outcome::withheld));
        CHECK(gate.outcomes({.outcome = store_outcome::waits}) ==
              both(decision_outcome::passes, decision_outcome::withheld));
    }
    SECTION("with any other") {
        CHECK(gate.outcomes(taken) == both(decision_outcome::taken, decision_outcome::taken));
        CHECK(gate.outcomes({.outcome = store_outcome::known}) ==
              both(decision_outcome::known, decision_outcome::known));
    }
}

TEST_CASE("a series of the hour before that the store may not have granted asks, and passes without an answer") {
    incumbents_scene gate;
    REQUIRE(learn(gate.limiter, hour_of(at(10, 30)), fingerprints(2, 1)));  // this gate has only heard of it
    tell_all(gate.limiter);
    SECTION("where no budget had more than its maximum") {
        gate.hear_before({});
        CHECK(gate.ask()[0].fingerprints == fingerprints(2, 2));
        CHECK(gate.unanswered() == std::vector{decision_outcome::passes, decision_outcome::passes,
                                               decision_outcome::passes, decision_outcome::withheld});
    }
    SECTION("where the gate does not know that") {
        CHECK(gate.ask()[0].fingerprints == fingerprints(0, 4));
        CHECK(gate.outcomes(refused_by_ants, {.hourly = 9}) ==
              std::vector{decision_outcome::passes, decision_outcome::passes, decision_outcome::refused,
                          decision_outcome::refused});
    }
}
