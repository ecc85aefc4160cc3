// Fleets of gates with one store, simulated: whatever is lost, late or killed, what must hold does.
#include <cstdlib>
#include <span>
#include <string>

#include "claim/simulator.hpp"
#include "support/catch.hpp"
#include "support/sanitizers.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;

namespace {

std::uint64_t wanted(const char* variable, std::uint64_t otherwise) {
    const char* const set = std::getenv(variable);
    return set == nullptr ? otherwise : std::strtoull(set, nullptr, 10);
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
    const std::uint64_t seeds = wanted("SERIESGATE_SIMULATED_SEEDS", 40);
    const std::uint64_t steps = wanted("SERIESGATE_SIMULATED_STEPS", 200'000) / seeds;  // of each
    const std::uint64_t first = wanted("SERIESGATE_SIMULATED_FIRST", 1);
    for (std::uint64_t seed = first; seed < first + seeds; ++seed) CHECK(failure_of(seed, steps, {}, seen) == "");
    for (const auto& [what, count] : seen) UNSCOPED_INFO(what << ": " << count);
    for (const char* const what : {"hours",
                                   "closed",
                                   "moved",
                                   "known",
                                   "taken",
                                   "refused",
                                   "unknown",
                                   "by the day",
                                   "returned",
                                   "awaited",
                                   "all awaited",
                                   "shares",
                                   "let pass",
                                   "withheld",
                                   "remembered refusals",
                                   "incumbents refused",
                                   "accepted at once",
                                   "told and taken",
                                   "told too late",
                                   "carried",
                                   "lost",
                                   "losses",
                                   "splits",
                                   "held",
                                   "shared out",
                                   "day's shares",
                                   "owed and taken",
                                   "owed too late",
                                   "unasked",
                                   "recoveries",
                                   "recoveries of all"}) {
        CAPTURE(what);
        CHECK(seen.contains(what));
    }
}

TEST_CASE("whoever breaks the store or a gate is found out") {
    struct mutant {
        const char* name;
        bool mutants::*which;
        std::uint64_t first = 1;  // seed; the rare ones are found sooner from here on
    };
    static constexpr mutant all[] = {
        {"claims after closing", &mutants::claims_after_closing},
        {"the hour before is not asked", &mutants::hour_before_not_asked},
        {"repeats are counted", &mutants::repeats_counted},
        {"refusals are counted", &mutants::refusals_counted},
        {"rules that changed are ignored", &mutants::rules_that_changed_ignored, 20},
        {"the grace is cut short", &mutants::grace_cut_short},
        {"groups are opened locally", &mutants::groups_opened_locally},
        {"timeouts are remembered", &mutants::timeouts_remembered},
        {"late answers are inserted", &mutants::late_answers_inserted},
        {"the clock runs on", &mutants::clock_runs_on},
        {"own counts decide", &mutants::own_counts_decide},
        {"places lapse by the timer alone", &mutants::lapse_by_timer},
        {"who tells later has no place kept", &mutants::place_not_kept},
        {"an epoch key alone shows a loss", &mutants::any_server, 70},
        {"a recovery waits for nobody", &mutants::recovery_waits_for_nobody},
        {"the untold do not come first after a loss", &mutants::held_for_nobody, 30},
        {"the untold are not told", &mutants::untold_forgotten},
        {"incumbents are accepted though they must wait", &mutants::accepts_though_it_must_wait},
        {"incumbents are accepted at once after other rules", &mutants::at_once_after_other_rules, 160},
        {"nobody notes what a day's first hour has left untold", &mutants::day_not_marked, 20},
        {"what a day's first hour has left untold is not counted", &mutants::nothing_carried, 20},
        {"a day begins at once after other limits", &mutants::any_day_before, 50},
        {"the list is left with untold ones", &mutants::leaves_with_untold},
        {"nothing is offered after a loss", &mutants::nothing_offered},
        {"the untold are not announced after a loss", &mutants::untold_not_announced, 120},
        {"shares are given where others have other rules", &mutants::shares_of_other_rules},
        {"what is owed is told as newcomers are", &mutants::owed_as_newcomers},
        {"claims ignore the reserve", &mutants::reserve_ignored, 30},
        {"shares are worked out from heard counts", &mutants::shares_of_heard_counts},
        {"a restarted gate has its share again", &mutants::share_of_name},
        {"a share outlives its hour", &mutants::share_outlives_hour},
        {"a feed decides that was read some time ago", &mutants::stale_feed_decides, 30},
        {"gaps in the feed are not noticed", &mutants::feed_gaps_unnoticed},
    };
    // Where the rules are broken is one code for all.
    for (const mutant& each : std::span{all}.first(sanitized ? 4 : std::size(all))) {
        mutants wrong;
        wrong.*each.which = true;
        happenings seen;
        std::string failure;
        for (std::uint64_t seed = each.first; seed < each.first + 800 && failure.empty(); ++seed)
            failure = failure_of(seed, 1'000, wrong, seen);
        CAPTURE(each.name);
        INFO(failure);
        CHECK_FALSE(failure.empty());
    }
}
