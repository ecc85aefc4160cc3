// Nobody is asked about series of budgets that are known to be spent.
#include <map>

#include "claim/asking.hpp"
#include "limit/budget_table.hpp"
#include "support/catch.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;

namespace {

/// Knows counts by id, in the hour from ten.
struct counts {
    std::map<std::uint64_t, known_count> of{};

    [[nodiscard]] known_counts known() const {
        return {.of = [this](std::int64_t hour, std::uint64_t id) {
            const auto found = of.find(id);
            const bool is_there = hour == at(10).time_since_epoch() / std::chrono::hours{1} && found != of.end();
            return is_there ? found->second : known_count{};
        }};
    }
};

}  // namespace

TEST_CASE("a group of series with a spent budget is refused unasked, the others are asked about") {
    asking gate{three_limits()};
    gate.add({{"team", "ants"}}, 0, 2).add({{"team", "bees"}}, 10).add({{"team", "ants"}}, 2);
    REQUIRE(gate.ask().size() == 1);
    const std::uint64_t ants = gate.asked.claims()[0].budgets[1].id;
    counts is;
    gate.counted = is.known();

    is.of[ants] = {.hourly = 9, .daily = 30};
    CHECK(gate.ask()[0].fingerprints.size() == 4);
    CHECK(gate.asked.unasked_count() == 0);

    is.of[ants] = {.hourly = 10, .daily = 30};
    const auto claims = gate.ask();
    REQUIRE(claims.size() == 1);
    CHECK(claims[0].fingerprints == std::vector{fingerprint_of(10)});
    CHECK(gate.asked.unasked_count() == 3);
    std::vector<std::optional<claim_answer>> answers{answering(claims[0], {.outcome = claim_outcome::taken})};
    const told said = gate.asked.tell(answers, told_outcome::withheld);
    REQUIRE(said.pending.size() == 4);
    CHECK(said.pending[2].outcome == told_outcome::taken);
    for (const std::size_t i : {0u, 1u, 3u}) {
        CHECK(said.pending[i].outcome == told_outcome::refused);
        CHECK(said.pending[i].window == refusing_window::hourly);
        CHECK(said.pending[i].place == first_limit_place);
        REQUIRE(said.pending[i].heard.size() == 3);
        CHECK(said.pending[i].heard[1].hourly == 10);
        CHECK(said.pending[i].heard[1].daily == 30);
        CHECK(said.pending[i].heard[1].unasked);
    }

    std::vector<verdict> verdicts(4, verdict::unknown);
    REQUIRE(gate.limiter.commit(gate.offered, at(10, 30), verdicts, gate.open, {.tenant = gate.tenant}, &said));
    CHECK(verdicts ==
          std::vector{verdict::refused_hourly, verdict::refused_hourly, verdict::admitted, verdict::refused_hourly});
    CHECK(gate.ask().empty());  // they are remembered as refused
    CHECK(gate.asked.unasked_count() == 0);
}

TEST_CASE("with all budgets spent no claim is left") {
    asking gate{three_limits()};
    gate.add({{"team", "ants"}}, 0, 300).add({{"team", "bees"}}, 300, 300);
    const std::uint64_t whole = gate.ask()[0].budgets[0].id;
    counts is;
    is.of[whole] = {.hourly = 100};
    gate.counted = is.known();
    CHECK(gate.ask().empty());
    CHECK(gate.asked.unasked_count() == 600);
    const told said = gate.asked.tell_nothing(told_outcome::let_pass);
    for (const told_series& each : said.pending) CHECK(each.outcome == told_outcome::refused);
    gate.asked.start();
    CHECK(gate.asked.unasked_count() == 0);
    CHECK(gate.asked.tell_nothing(told_outcome::let_pass).pending.empty());
}

TEST_CASE("the maximum is this gate's, and the hour that of the lookups") {
    limit_rules settings = three_limits();
    asking gate{settings};
    gate.add({{"team", "ants"}}, 0, 5);
    counts is;
    is.of[gate.ask()[0].budgets[0].id] = {.hourly = 100};
    gate.counted = is.known();
    CHECK(gate.ask(at(11)).size() == 1);
    CHECK(gate.asked.unasked_count() == 0);
    gate.limiter = series_limiter{settings, at(10, 30), hash_key::known_to_all(), limit_scope::fleet, tested_set()};
    CHECK(gate.ask().empty());
    settings.global.hourly = 101;
    gate.limiter.reconfigure(settings);
    CHECK(gate.ask().size() == 1);
    settings.global.hourly = 0;
    gate.limiter.reconfigure(settings);
    CHECK(gate.ask().size() == 1);
}

TEST_CASE("what is left to shares is spent for those who claim, but what is owed passes") {
    asking gate{{.global = {.hourly = 3'200}}};
    gate.add({}, 0, 2);
    REQUIRE(gate.ask().size() == 1);
    counts is;
    is.of[gate.asked.claims()[0].budgets[0].id] = {.hourly = 3'040, .daily = 3'040};
    gate.counted = is.known();
    CHECK(gate.ask().size() == 1);
    gate.counted.reserve = 500;
    CHECK(gate.ask().empty());
    const auto owed = [](std::uint64_t series, std::span<const claimed_budget* const>, bool is_answered) {
        REQUIRE(is_answered);
        return series == fingerprint_of(1) ? std::optional{told_outcome::let_pass} : std::nullopt;
    };
    const told said = gate.asked.tell({}, told_outcome::withheld, owed);
    CHECK(said.pending[0].outcome == told_outcome::refused);
    CHECK(said.pending[1].outcome == told_outcome::let_pass);
}
