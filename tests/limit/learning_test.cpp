// What other gates of a fleet have had counted.
#include "limit/learning.hpp"

#include <vector>

#include "limit/told_gate.hpp"
#include "support/catch.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;

namespace {

/// Of series as the gate offers them.
std::vector<std::uint64_t> fingerprints(const told_gate& gate, std::uint64_t first, std::uint64_t count) {
    std::vector<std::uint64_t> made;
    for (std::uint64_t i = first; i < first + count; ++i) made.push_back(fingerprint_in(gate.sent, i));
    return made;
}

}  // namespace

TEST_CASE("what others have had counted is known, and nobody is asked about it") {
    told_gate gate{three_limits()};
    CHECK(learn(gate.limiter, hour_of(at(10)), fingerprints(gate, 0, 3)));
    CHECK(gate.look_up(0, 4, at(10, 30)) == 1);
    CHECK(learn(gate.limiter, hour_of(at(10)), fingerprints(gate, 0, 4)));
    CHECK(gate.look_up(0, 4, at(10, 30)) == 0);
    CHECK(gate.figures().hourly.series_current == 0);  // the store says how many there are
    CHECK(gate.look_up(0, 4, at(11)) == 4);
}

TEST_CASE("what was refused here, and admitted for another gate, flows here too") {
    told_gate gate{three_limits()};
    gate.offer(0, 2, at(10, 30), refused_by_budget(0, refusing_window::hourly));
    CHECK(learn(gate.limiter, hour_of(at(10)), fingerprints(gate, 1, 1)));
    gate.look_up(0, 2, at(10, 31));
    CHECK(gate.verdicts == verdict_list{verdict::refused_hourly, verdict::known});
}

TEST_CASE("what was counted in another hour is not known in this one") {
    told_gate gate{three_limits()};
    gate.offer(0, 1, at(11, 30), outcome_of(told_outcome::taken));
    CHECK_FALSE(learn(gate.limiter, hour_of(at(10)), fingerprints(gate, 1, 3)));
    CHECK_FALSE(learn(gate.limiter, hour_of(at(12)), fingerprints(gate, 1, 3)));
    CHECK(gate.look_up(0, 4, at(11, 30)) == 3);
}

TEST_CASE("a set that has no room for what is learnt gets it") {
    told_gate gate{{.global = {.hourly = 1}}};
    const auto many = fingerprints(gate, 0, 300'000);  // more than the first segment of a set holds
    CHECK(learn(gate.limiter, hour_of(at(10)), many));
    CHECK(gate.look_up(0, 300'000, at(10, 30)) == 0);
}
