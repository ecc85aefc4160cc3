// Fleets of gates with one store, simulated: whatever is lost, late or killed, what must hold does.
#include <cstdlib>
#include <string>

#include "claim/simulator.hpp"
#include "support/catch.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;

namespace {

constexpr std::uint64_t seeds = 20;

/// Of all seeds together.
std::uint64_t steps_wanted() {
    const char* const wanted = std::getenv("SERIESGATE_SIMULATED_STEPS");
    return wanted == nullptr ? 100'000 : std::strtoull(wanted, nullptr, 10);
}

/// @return what did not hold, and where; empty if all did.
std::string failure_of(std::uint64_t seed, std::uint64_t steps, const mutants& wrong, happenings& seen) {
    simulation fleet{seed, wrong};
    try {
        fleet.run(steps);
    } catch (const violation& broken) {
        return "seed " + std::to_string(seed) + ", step " + std::to_string(fleet.step()) + ": " + broken.what();
    }
    for (const auto& [what, count] : fleet.seen()) seen[what] += count;
    return {};
}

}  // namespace

TEST_CASE("whatever happens between gates and their store, no limit is exceeded and they agree in the end") {
    happenings seen;
    const std::uint64_t steps = steps_wanted() / seeds;
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) CHECK(failure_of(seed, steps, {}, seen) == "");
    for (const auto& [what, count] : seen) UNSCOPED_INFO(what << ": " << count);
    for (const char* const what :
         {"hours", "closed", "moved", "known", "taken", "refused", "unknown", "by the day", "returned", "awaited",
          "all awaited", "shares", "let pass", "withheld", "remembered refusals", "incumbents refused"}) {
        CAPTURE(what);
        CHECK(seen.contains(what));
    }
}

TEST_CASE("whoever breaks the store or a gate is found out") {
    struct mutant {
        const char* name;
        bool mutants::*which;
    };
    static constexpr mutant all[] = {
        {"claims after closing", &mutants::claims_after_closing},
        {"the hour before is not asked", &mutants::hour_before_not_asked},
        {"repeats are counted", &mutants::repeats_counted},
        {"refusals are counted", &mutants::refusals_counted},
        {"rules that changed are ignored", &mutants::rules_that_changed_ignored},
        {"the grace is cut short", &mutants::grace_cut_short},
        {"groups are opened locally", &mutants::groups_opened_locally},
        {"timeouts are remembered", &mutants::timeouts_remembered},
        {"late answers are inserted", &mutants::late_answers_inserted},
        {"the clock runs on", &mutants::clock_runs_on},
        {"own counts decide", &mutants::own_counts_decide},
    };
    for (const mutant& each : all) {
        mutants wrong;
        wrong.*each.which = true;
        happenings seen;
        std::string failure;
        for (std::uint64_t seed = 1; seed <= 400 && failure.empty(); ++seed)
            failure = failure_of(seed, 2'000, wrong, seen);
        CAPTURE(each.name);
        INFO(failure);
        CHECK_FALSE(failure.empty());
    }
}
