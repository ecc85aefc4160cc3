// The scripts of the shared store in a real server against their model: the same random calls, the same answers, the
// same sets and counts; and the promises that every answer has to keep.

#include "fleet/shared_random_calls.hpp"
#include "support/catch.hpp"
#include "support/sanitizers.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;

namespace {

constexpr int scene_steps = sanitized ? 300 : 1'000;  // of each scene

void require_seen(std::map<std::string, int> seen, const std::vector<std::string>& all) {
    if (sanitized) return;  // too few steps for what is rare
    for (const std::string& what : all) {
        CAPTURE(what);
        CHECK(seen[what] > 0);
    }
}

}  // namespace

TEST_CASE("the shared store decides as its model does, while limits stay as they are") {
    const bool with_day = GENERATE(true, false);
    const std::uint64_t seed = GENERATE(1u, 2u, 3u, 4u);
    CAPTURE(with_day, seed);
    require_seen(run_shared_scene({.seed = seed, .with_day = with_day}, scene_steps),
                 {"decided", "closed", "moved", "other epoch", "known", "taken", "refused", "new series", "returned",
                  "kept", "lapsed", "overflow"});
}

TEST_CASE("the shared store decides as its model does, while limits change and are observed") {
    const std::uint64_t seed = GENERATE(11u, 12u, 13u, 14u);
    const bool observes = GENERATE(true, false);
    CAPTURE(seed, observes);
    require_seen(run_shared_scene({.seed = seed, .is_steady = observes, .observes = observes}, scene_steps),
                 {"taken", "refused", "incumbents refused", observes ? "kept" : "all kept"});
}

TEST_CASE("the shared store completes histograms as its model does") {
    const bool with_day = GENERATE(true, false);
    const std::uint64_t seed = GENERATE(21u, 22u);
    CAPTURE(with_day, seed);
    require_seen(run_shared_scene({.seed = seed, .with_day = with_day, .completes = true}, scene_steps),
                 {"taken", "refused", "completed"});
}

TEST_CASE("the shared store is refilled as its model is, after losses and by wrong clocks") {
    const bool has_wrong_clocks = GENERATE(true, false);
    const std::uint64_t seed = GENERATE(31u, 32u, 33u, 34u, 35u, 36u);
    CAPTURE(has_wrong_clocks, seed);
    const shared_scene of{.seed = seed, .has_losses = true, .has_wrong_clocks = has_wrong_clocks, .has_refills = true};
    require_seen(run_shared_scene(of, scene_steps), {"taken", "refused", "other epoch", "waits", "moved"});
}
