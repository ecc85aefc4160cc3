// The scripts in a real store against the model: the same random claims, the same answers, the same sets and counts.
#include <map>
#include <string>
#include <utility>

#include "fleet/random_gates.hpp"
#include "fleet/store_and_model.hpp"
#include "support/catch.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;

namespace {

using namespace std::chrono_literals;

/// What nobody may see, whatever happens, while maxima and rules stay as they are.
void check_invariants(const claim& asked, const claim_answer& answer, const claim_terms& terms) {
    for (std::size_t i = 0; i < answer.budgets.size(); ++i) {
        const budget_answer& is = answer.budgets[i];
        const series_maxima maxima = is.shares ? asked.budgets[i].overflow_maxima : asked.budgets[i].maxima;
        const std::uint64_t kept = is.awaited == all_awaited ? 0 : is.awaited;
        if (maxima.hourly != 0) REQUIRE(is.hourly + kept <= maxima.hourly);
        if (maxima.daily != 0) REQUIRE(is.daily + (terms.hour % 24 == 0 ? kept : 0) <= maxima.daily);
    }
}

/// No room is kept for more incumbents than before, within an hour.
class awaited_so_far {
    std::int64_t hour_ = 0;
    std::map<std::pair<std::uint64_t, bool>, std::uint64_t> least_;

  public:
    void check(const claim& asked, const claim_answer& answer) {
        if (std::exchange(hour_, answer.windows.hour) != answer.windows.hour) least_.clear();
        for (std::size_t i = 0; i < answer.budgets.size(); ++i) {
            const budget_answer& is = answer.budgets[i];
            const auto [at, first] = least_.try_emplace({asked.budgets[i].id, is.shares}, is.awaited);
            REQUIRE(is.awaited <= at->second);
            at->second = is.awaited;
        }
    }
};

struct happened {
    std::map<std::string, int> counts;

    void add(telling_state answer) {
        static const char* const states[] = {"not open", "listed", "must wait", "left"};
        ++counts[states[static_cast<int>(answer)]];
    }

    void add(share_state answer) {
        static const char* const states[] = {"no share now", "none left", "of the hour", "of the day"};
        ++counts[states[static_cast<int>(answer)]];
    }

    void add(const claim_answer& answer) {
        static const char* const outcomes[] = {"known", "taken", "refused", "unknown"};
        static const char* const statuses[] = {"decided", "closed", "moved", "lost"};
        ++counts[statuses[static_cast<int>(answer.status)]];
        for (const series_answer& is : answer.series) {
            ++counts[outcomes[static_cast<int>(is.outcome)]];
            if (is.completed.hour) ++counts["completed"];
            if (is.completed.day) ++counts["completed in the day"];
            if (is.outcome == claim_outcome::refused && is.window == refusing_window::daily) ++counts["by the day"];
        }
        for (const budget_answer& is : answer.budgets) {
            if (is.shares) ++counts["shares"];
            if (is.awaited == all_awaited) ++counts["all awaited"];
            if (is.awaited != 0 && is.awaited != all_awaited) ++counts["awaited"];
            if (is.awaited != 0 && answer.windows.now >= hour_of(answer.windows.now).start + 600s)
                ++counts["awaited after the grace"];
        }
    }
};

happened run_scene(scene of, int steps, bool of_two_versions = false) {
    CAPTURE(of.seed);
    store_and_model both;
    random_gates gates{of};
    awaited_so_far awaited;
    happened seen;
    for (int step = 0; step < steps; ++step) {
        CAPTURE(step);
        if (of_two_versions) both.store().change_version();
        const time_point now = gates.next_moment();
        const claim_terms terms = gates.next_terms(both.told());
        if (const auto telling = gates.next_telling())
            seen.add(telling->enters ? both.enter(telling->gate, terms, now) : both.leave(telling->gate, terms));
        if (const auto sharing = gates.next_sharing()) seen.add(both.share(*sharing, terms, now).first);
        const claim asked = gates.next_claim();
        const claim_answer answer = both.decide(asked, terms, now);
        seen.add(answer);
        if (both.model().day())
            for (const auto& [id, left] : both.model().day()->carried)
                ++seen.counts[left == 0 ? "carried none" : "carried"];
        if (of.steady && !of.histograms && answer.status == claim_status::decided) {
            check_invariants(asked, answer, terms);
            awaited.check(asked, answer);
        }
        if (step % 100 == 99) both.compare();
    }
    both.compare();
    return seen;
}

}  // namespace

TEST_CASE("the script decides as the model does, while limits stay as they are") {
    const bool with_day = GENERATE(true, false);
    const bool places_for_all = GENERATE(true, false);
    const std::uint64_t seed = GENERATE(1u, 2u, 3u);
    const happened seen = run_scene({.seed = seed, .with_day = with_day, .places_for_all = places_for_all}, 1500);
    for (const char* what : {"decided", "closed", "moved", "known", "taken", "refused", "unknown", "awaited",
                             "not open", "must wait", "left"}) {
        CAPTURE(what);
        CHECK(seen.counts.contains(what));
    }
    CHECK(seen.counts.contains("by the day") == with_day);
    CHECK(seen.counts.contains("shares") != places_for_all);
    for (const char* what : {"listed", "awaited after the grace"}) {
        CAPTURE(what);
        if (places_for_all) CHECK(seen.counts.contains(what));
    }
}

TEST_CASE("the script carries what is untold into the day as the model does") {
    std::map<std::string, int> seen;
    for (const std::uint64_t seed : {21u, 22u, 23u, 24u})
        for (const auto& [what, count] : run_scene({.seed = seed, .places_for_all = true}, 2000).counts)
            seen[what] += count;
    CHECK(seen["carried"] > 0);
    CHECK(seen["carried none"] > 0);
}

TEST_CASE("the script decides as the model does, while gates change their limits") {
    const bool with_day = GENERATE(true, false);
    const std::uint64_t seed = GENERATE(5u, 6u, 7u, 8u);
    const happened seen = run_scene({.seed = seed, .with_day = with_day, .steady = false}, 1500);
    CHECK(seen.counts.at("all awaited") > 0);
    CHECK(seen.counts.at("taken") > 0);
}

TEST_CASE("gates of two versions of the script decide as one, claim by claim") {
    const happened seen = run_scene({.seed = 21, .with_day = true}, 1500, true);
    for (const char* what : {"decided", "closed", "known", "taken", "refused", "awaited"}) {
        CAPTURE(what);
        CHECK(seen.counts.contains(what));
    }
}

TEST_CASE("the script leaves shares alone as the model does, and gives them to the same gates") {
    const bool with_day = GENERATE(true, false);
    const bool steady = GENERATE(true, false);
    const std::uint64_t seed = GENERATE(11u, 12u);
    const happened seen = run_scene({.seed = seed, .with_day = with_day, .steady = steady, .reserve = 5000}, 1500);
    CHECK(seen.counts.at("taken") > 0);
    CHECK(seen.counts.at("no share now") > 0);
    // Where rules change all the time, hardly any hour has claims of one kind alone.
    if (steady) CHECK(seen.counts.at("of the day") > 0);
    if (steady) CHECK(seen.counts.at("none left") > 0);
}

TEST_CASE("the script completes histograms as the model does") {
    const bool with_day = GENERATE(true, false);
    const bool steady = GENERATE(true, false);
    const std::uint32_t reserve = GENERATE(0u, 5000u);
    const std::uint64_t seed = GENERATE(21u, 22u);
    const happened seen =
        run_scene({.seed = seed, .with_day = with_day, .steady = steady, .reserve = reserve, .histograms = true}, 1500);
    CHECK(seen.counts.at("taken") > 0);
    CHECK(seen.counts.at("refused") > 0);
    CHECK(seen.counts.at("completed") > 0);
    CHECK(seen.counts.contains("completed in the day") == (with_day || !steady));
}
