#include "claim/untold_walker.hpp"

#include "claim/asking.hpp"
#include "support/catch.hpp"

namespace seriesgate::testing::untold_walker_test {

TEST_CASE("a refill ends though more passes than can be told, and what is left is told after it") {
    asking gate{three_limits()};
    std::uint64_t passed = 0;
    const auto pass = [&](std::uint64_t count) {
        gate.start();
        gate.add({{"job", "a"}}, passed, count).ask();
        gate.commit(gate.decide(decision_outcome::passes));
        passed += count;
    };
    pass(4 * call_series_max);
    untold_walker walker{gate.limiter, hash_key::known_to_all()};
    walker.refill(0.4);
    std::uint64_t calls = 0;
    for (; walker.refilled(); ++calls) {
        REQUIRE(calls < 2 * untold_walker::drain_calls_min);
        pass(call_series_max + 1);
        REQUIRE(walker.next().has_value());
        walker.is_told();
    }
    CHECK(calls > untold_walker::drain_calls_min);
    CHECK_FALSE(walker.is_clean());
    while (walker.next()) walker.is_told();
    CHECK(walker.is_clean());
}

}  // namespace seriesgate::testing::untold_walker_test
