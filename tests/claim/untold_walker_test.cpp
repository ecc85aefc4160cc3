#include "claim/untold_walker.hpp"

#include "claim/asking.hpp"
#include "limit/commit_state.hpp"
#include "support/catch.hpp"

namespace seriesgate::testing::untold_walker_test {
namespace {

/// New series pass here without an answer.
struct passing_gate : asking {
    std::uint64_t passed = 0;

    passing_gate() : asking{three_limits()} {}

    void pass(std::uint64_t count) {
        start();
        add({{"job", "a"}}, passed, count).ask();
        commit(decide(decision_outcome::passes));
        passed += count;
    }
};

}  // namespace

TEST_CASE("a refill ends though more passes than can be told, and what is left is told after it") {
    passing_gate gate;
    gate.pass(4 * call_series_max);
    untold_walker walker{gate.limiter, hash_key::known_to_all()};
    walker.refill(0.4);
    std::uint64_t calls = 0;
    for (; walker.refilled(); ++calls) {
        REQUIRE(calls < 2 * untold_walker::drain_calls_min);
        gate.pass(call_series_max + 1);
        REQUIRE(walker.next().has_value());
        walker.is_told();
    }
    CHECK(calls > untold_walker::drain_calls_min);
    CHECK_FALSE(walker.is_clean());
    while (walker.next()) walker.is_told();
    CHECK(walker.is_clean());
}

TEST_CASE("what was not noted is told although more passes all the time") {
    passing_gate gate;
    untold_walker walker{gate.limiter, hash_key::known_to_all()};
    REQUIRE(walker.is_clean());
    constexpr std::uint64_t missed = 4'096, part = 4'096;
    while (gate.passed < untold_notes::count_max + missed) gate.pass(part);
    for (std::uint64_t calls = 0; calls < 2'000; ++calls) {
        gate.pass(1);
        REQUIRE(walker.next().has_value());
        walker.is_told();
    }
    std::vector<std::uint64_t> untold;
    for (std::uint64_t next = 0; find_untold(gate.limiter, next, untold);) {
    }
    CHECK(untold.size() < 600);
}

}  // namespace seriesgate::testing::untold_walker_test
