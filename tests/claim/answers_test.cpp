// What a gate makes of its store's answers, and what it asks about markers.
#include "claim/questions.hpp"

#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "claim/asking.hpp"
#include "limit/untold.hpp"
#include "support/catch.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;

TEST_CASE("series that nobody is asked about stand between those of a claim") {
    limit_rules settings = three_limits();
    settings.exempt.push_back(selecting("{team=\"ants\"}"));
    asking gate{settings};
    gate.add({{"team", "ants"}}, 0).add({{"team", "bees"}}, 1).add({{"team", "ants"}}, 2).add({{"team", "bees"}}, 3);
    const auto claims = gate.ask();
    REQUIRE(claims.size() == 1);
    CHECK(claims[0].fingerprints == std::vector{fingerprint_of(1), fingerprint_of(3)});
    std::vector<std::optional<claim_answer>> answers{answering(claims[0], {.outcome = claim_outcome::known})};
    answers[0]->series[1].outcome = claim_outcome::taken;
    const told said = gate.asked.tell(answers, told_outcome::withheld);
    REQUIRE(said.pending.size() == 4);
    CHECK(said.pending[0].outcome == told_outcome::unasked);
    CHECK(said.pending[1].outcome == told_outcome::known);
    CHECK(said.pending[2].outcome == told_outcome::unasked);
    CHECK(said.pending[3].outcome == told_outcome::taken);
    CHECK(said.hour == hour_of(at(10)));
}

TEST_CASE("markers are only looked for, after all others, and only those that this gate does not know") {
    asking gate{three_limits()};
    SECTION("beside series") {
        gate.add_marker(5).add({}, 0, 2).add_marker(6);
        const auto claims = gate.ask();
        REQUIRE(claims.size() == 1);
        CHECK(claims[0].fingerprints ==
              std::vector{fingerprint_of(0), fingerprint_of(1), fingerprint_of(5), fingerprint_of(6)});
        CHECK(claims[0].runs ==
              std::vector<claim_run>{{.series = 2, .budgets = places{0, 1, 2}}, {.series = 2, .look = true}});
        std::vector<std::optional<claim_answer>> answers{answering(claims[0], {.outcome = claim_outcome::taken})};
        answers[0]->series[2].outcome = claim_outcome::unknown;
        answers[0]->series[3].outcome = claim_outcome::known;
        const told said = gate.asked.tell(answers, told_outcome::withheld);
        CHECK(said.known_followers == std::vector<bool>{false, true});
        CHECK(said.pending.size() == 2);
    }
    SECTION("alone, and more than a claim has") {
        for (std::uint64_t i = 0; i < 130; ++i) gate.add_marker(i);
        const auto claims = gate.ask();
        REQUIRE(claims.size() == 2);
        CHECK(claims[0].budgets.empty());
        CHECK(claims[1].runs == std::vector<claim_run>{{.series = 2, .look = true}});
        std::vector<std::optional<claim_answer>> answers(2);
        answers[1] = answering(claims[1], {.outcome = claim_outcome::known});
        const told said = gate.asked.tell(answers, told_outcome::withheld);
        std::vector<bool> wanted(130, false);
        wanted[128] = wanted[129] = true;
        CHECK(said.known_followers == wanted);
    }
    SECTION("known here from the hour before") {
        std::vector<verdict> verdicts(1);
        gate.add({}, 5).ask();
        const std::vector<std::optional<claim_answer>> answers{
            answering(gate.asked.claims()[0], {.outcome = claim_outcome::taken})};
        const told said = gate.asked.tell(answers, told_outcome::withheld);
        REQUIRE(gate.limiter.commit(gate.offered, at(10, 30), verdicts, gate.open, {.tenant = "red"}, &said));
        gate.start();
        gate.add_marker(5).add_marker(6);
        const auto claims = gate.ask(at(11));
        REQUIRE(claims.size() == 1);
        CHECK(claims[0].fingerprints == fingerprints(6, 1));
        const std::vector<std::optional<claim_answer>> known{answering(claims[0], {.outcome = claim_outcome::known})};
        CHECK(gate.asked.tell(known, told_outcome::withheld).known_followers == std::vector<bool>{false, true});
    }
}

TEST_CASE("who has refused is told by the place that the limiter has it in") {
    limit_rules settings{.global = {.hourly = 100}};
    settings.tenants.fallback.hourly = 50;
    settings.limits.push_back(limit_each("observed", "job", {.hourly = 1}));
    settings.limits[0].mode = limit_mode::observe;
    settings.limits.push_back(limit_each("bees only", "team", {.hourly = 10}));
    settings.limits[1].match = selecting("{team=\"bees\"}");
    settings.limits.push_back(limit_each("teams", "team", {.hourly = 20, .daily = 30}));
    asking gate{settings};
    gate.add({{"team", "ants"}}, 0, 2).add({{"team", "bees"}}, 2, 2);
    const auto claims = gate.ask();
    REQUIRE(claims.size() == 1);
    REQUIRE(claims[0].runs == std::vector<claim_run>{{.series = 2, .budgets = places{0, 1, 2}},
                                                     {.series = 2, .budgets = places{0, 1, 3, 4}}});
    std::vector<std::optional<claim_answer>> answers{answering(claims[0], {.outcome = claim_outcome::refused})};
    answers[0]->series = {
        {.outcome = claim_outcome::refused, .budget = 1},
        {.outcome = claim_outcome::refused, .budget = 2, .window = refusing_window::daily},
        {.outcome = claim_outcome::refused, .budget = 3},
        {.outcome = claim_outcome::refused, .budget = 4},
    };
    answers[0]->budgets = {{.hourly = 4, .daily = 40, .awaited = 9},
                           {.hourly = 5, .daily = 50},
                           {.hourly = 6, .daily = 60},
                           {.hourly = 7, .daily = 70},
                           {.shares = true, .hourly = 8, .daily = 80}};
    const told said = gate.asked.tell(answers, told_outcome::withheld);
    // Places: 0 the whole, 1 the tenant, then the limits that apply, in their order: for ants 2 is the one that
    // observes, 3 the teams'; for bees 3 is their own.
    const auto told_at = [&said](std::size_t i) { return std::pair{said.pending[i].place, said.pending[i].window}; };
    for (const told_series& each : said.pending) CHECK(each.outcome == told_outcome::refused);
    CHECK(told_at(0) == std::pair{1u, refusing_window::hourly});
    CHECK(told_at(1) == std::pair{3u, refusing_window::daily});
    CHECK(told_at(2) == std::pair{3u, refusing_window::hourly});
    CHECK(told_at(3) == std::pair{4u, refusing_window::hourly});
    CHECK(said.pending[0].heard.size() == 3);
    CHECK(said.pending[2].heard.size() == 4);
    REQUIRE(said.pending[0].at(0) != nullptr);
    CHECK(said.pending[0].at(0)->hourly == 4);
    CHECK(said.pending[0].at(0)->daily == 40);
    CHECK(said.pending[0].at(0)->awaited == 9);
    CHECK(said.pending[0].at(2) == nullptr);
    CHECK(said.pending[1].at(3)->hourly == 6);
    CHECK(said.pending[2].at(3)->hourly == 7);
    CHECK(said.pending[3].at(4)->daily == 80);
}

TEST_CASE("series of a claim without an answer are what the gate says of those") {
    asking gate{three_limits()};
    gate.add({}, 0, 130);
    REQUIRE(gate.ask().size() == 2);
    const auto unanswered = GENERATE(told_outcome::withheld, told_outcome::let_pass);
    std::vector<std::optional<claim_answer>> answers(2);
    answers[0] = answering(gate.asked.claims()[0], {.outcome = claim_outcome::taken});
    const told said = gate.asked.tell(answers, unanswered);
    CHECK(said.pending[127].outcome == told_outcome::taken);
    CHECK(said.pending[127].heard.size() == 3);
    CHECK(said.pending[128].outcome == unanswered);
    CHECK(said.pending[129].outcome == unanswered);
    CHECK(said.pending[129].heard.empty());
    const told nothing = gate.asked.tell_nothing(unanswered);
    for (const told_series& each : nothing.pending) CHECK(each.outcome == unanswered);
}

TEST_CASE("a share is asked about what nobody has answered and about what was refused, and told of afterwards") {
    asking gate{three_limits()};
    gate.add({}, 0, 130);
    REQUIRE(gate.ask().size() == 2);
    std::vector<std::optional<claim_answer>> answers(2);
    answers[0] = answering(gate.asked.claims()[0], {.outcome = claim_outcome::taken});
    answers[0]->series[5].outcome = answers[0]->series[7].outcome = claim_outcome::refused;
    std::vector<std::pair<std::uint64_t, bool>> seen;
    const auto besides = [&](std::uint64_t fingerprint, std::span<const claimed_budget* const> budgets,
                             bool is_answered) -> std::optional<told_outcome> {
        CHECK(budgets.size() == 3);
        seen.emplace_back(fingerprint, is_answered);
        if (fingerprint == fingerprint_of(7)) return told_outcome::let_pass;
        if (fingerprint == fingerprint_of(129)) return told_outcome::owed;
        return std::nullopt;
    };
    const told said = gate.asked.tell(answers, told_outcome::withheld, besides);
    CHECK(seen == std::vector<std::pair<std::uint64_t, bool>>{{fingerprint_of(5), true},
                                                              {fingerprint_of(7), true},
                                                              {fingerprint_of(128), false},
                                                              {fingerprint_of(129), false}});
    CHECK(said.pending[5].outcome == told_outcome::refused);
    CHECK(said.pending[7].outcome == told_outcome::let_pass);
    CHECK(said.pending[128].outcome == told_outcome::withheld);
    CHECK(said.pending[129].outcome == told_outcome::owed);
    CHECK(owes_any(said));
    CHECK_FALSE(owes_any(gate.asked.tell(answers, told_outcome::withheld)));

    untold aside{.tenant = "shop"};
    set_aside_owed(gate.offered, gate.open, said, aside);
    REQUIRE(aside.series.size() == 1);
    CHECK(aside.series[0].fingerprint == fingerprint_of(129));
    CHECK(aside.open.pending == std::vector<std::uint32_t>{0});
    CHECK(aside.open.selections.size() == 1);
    CHECK(aside.open.hour == gate.open.hour);
    CHECK(aside.open.rules == gate.open.rules);
    CHECK(aside.owed);
}

TEST_CASE("what is told says whether any of it was decided in the grace") {
    asking gate{three_limits()};
    gate.add({}, 0, 130).ask();
    std::vector<std::optional<claim_answer>> answers(2);
    CHECK_FALSE(gate.asked.tell(answers, told_outcome::withheld).in_grace);
    const auto claims = gate.asked.claims();
    answers[0] = answering(claims[0], {.outcome = claim_outcome::taken}, at(10, 9, 59));
    answers[1] = answering(claims[1], {.outcome = claim_outcome::taken}, at(10, 10));
    CHECK(gate.asked.tell(answers, told_outcome::withheld).in_grace);
    answers[0] = std::nullopt;
    CHECK_FALSE(gate.asked.tell(answers, told_outcome::withheld).in_grace);
}
