// The scripts in a real store against the model: the same random claims, the same answers, the same sets and counts.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "fleet/store_and_model.hpp"
#include "support/catch.hpp"
#include "support/fingerprints.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;

namespace {

using namespace std::chrono_literals;

/// What the random claims of one scene have in common.
struct scene {
    std::uint64_t seed = 0;
    bool with_day = true;
    bool steady = true;           ///< maxima and rules never change, so that no room is ever promised twice
    bool places_for_all = false;  ///< no budget of a shelf has to share
};

/// A fleet of made-up gates: few series, small budgets, so that everything happens often.
class random_gates {
    scene scene_;
    random_numbers random_;
    std::int64_t hour_ = first_hour;
    std::chrono::seconds in_hour_{0};

  public:
    explicit random_gates(scene of) : scene_(of), random_(of.seed) {}

    time_point next_moment() {
        in_hour_ += std::chrono::seconds{random_.below(90)};
        if (random_.one_in(300)) in_hour_ += 1h * random_.below(3);
        while (in_hour_ >= 1h) {
            in_hour_ -= 1h;
            ++hour_;
        }
        return time_point{std::chrono::hours{hour_} + in_hour_ + std::chrono::microseconds{random_.below(1'000'000)}};
    }

    claim_terms next_terms(const store_windows& told) {
        claim_terms terms{.hour = hour_,
                          .rules = scene_.steady || !random_.one_in(40) ? 1u : 2u,
                          .all_rules = scene_.steady || !random_.one_in(40) ? 3u : 4u,
                          .grace = 600,
                          .with_day = scene_.with_day,
                          .room = random_.below(3) * 300,
                          .day_room = random_.below(3) * 700,
                          .buckets = told.buckets};
        if (in_hour_ >= 3590s) terms.hour += random_.below(2);
        if (random_.one_in(25)) terms.hour += static_cast<std::int64_t>(random_.below(4)) - 2;
        if (!scene_.steady && random_.one_in(10)) terms.with_day = !terms.with_day;
        if (in_hour_ >= 600s && random_.one_in(2)) terms.buckets.before = 0;
        for (std::uint32_t* count : {&terms.buckets.hour, &terms.buckets.day, &terms.buckets.before})
            if (random_.one_in(60)) *count = random_.one_in(2) ? 0 : 1u << random_.below(5);
        return terms;
    }

    /// A gate that enters the list of those that accept incumbents at once, or leaves it; mostly there is none.
    struct telling {
        std::string gate;
        bool enters = false;
    };
    std::optional<telling> next_telling() {
        if (!random_.one_in(8)) return std::nullopt;
        return telling{.gate = std::string(1, static_cast<char>('a' + random_.below(3))), .enters = random_.one_in(2)};
    }

    claim next_claim() {
        claim asked;
        asked.budgets = budgets();
        const std::uint64_t runs = random_.below(7);
        for (std::uint64_t r = 0; r < runs; ++r) {
            const std::uint64_t group = random_.below(groups);
            claim_run run{.series = static_cast<std::uint32_t>(random_.below(9)), .look = random_.one_in(8)};
            // The whole, a tenant, a group of each of two limits, as a series of this group has them.
            run.budgets = {0, static_cast<std::uint8_t>(1 + group % tenants),
                           static_cast<std::uint8_t>(1 + tenants + group)};
            if (random_.one_in(2)) run.budgets.push_back(static_cast<std::uint8_t>(1 + tenants + groups + group % 4));
            if (!scene_.steady && random_.one_in(10)) run.budgets.clear();
            for (std::uint32_t i = 0; i < run.series; ++i)
                asked.fingerprints.push_back(fingerprint_of(group + groups * random_.below(6)));
            asked.runs.push_back(std::move(run));
        }
        return asked;
    }

  private:
    static constexpr std::uint64_t tenants = 3, groups = 11;

    std::uint64_t limit(std::uint64_t maximum) {
        return scene_.steady || !random_.one_in(20) ? maximum : random_.below(maximum + 2);
    }

    std::vector<claimed_budget> budgets() {
        std::vector<claimed_budget> all;
        all.push_back({.id = ~0ull, .maxima = {.hourly = limit(25), .daily = limit(40)}});
        for (std::uint64_t i = 0; i < tenants; ++i)
            all.push_back({.id = fingerprint_of(100 + i), .maxima = {.hourly = limit(i * 6), .daily = limit(15)}});
        for (std::uint64_t i = 0; i < groups; ++i)
            all.push_back({.id = fingerprint_of(200 + i),
                           .maxima = {.hourly = limit(3), .daily = limit(5)},
                           .shelf = 7,
                           .places_max = scene_.places_for_all ? 100 : limit(6),
                           .overflow_id = 9,
                           .overflow_maxima = {.hourly = limit(4), .daily = limit(6)}});
        for (std::uint64_t i = 0; i < 4; ++i)
            all.push_back({.id = fingerprint_of(300 + i),
                           .maxima = {.hourly = limit(7), .daily = limit(0)},
                           .shelf = i == 0 ? 0u : 8u,
                           .places_max = scene_.places_for_all ? 100u : 1u,
                           .overflow_id = 10,
                           .overflow_maxima = {.hourly = limit(9), .daily = limit(11)}});
        return all;
    }
};

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

    void add(const claim_answer& answer) {
        static const char* const outcomes[] = {"known", "taken", "refused", "unknown"};
        static const char* const statuses[] = {"decided", "closed", "moved"};
        ++counts[statuses[static_cast<int>(answer.status)]];
        for (const series_answer& is : answer.series) {
            ++counts[outcomes[static_cast<int>(is.outcome)]];
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

happened run_scene(scene of, int steps) {
    CAPTURE(of.seed);
    store_and_model both;
    random_gates gates{of};
    awaited_so_far awaited;
    happened seen;
    for (int step = 0; step < steps; ++step) {
        CAPTURE(step);
        const time_point now = gates.next_moment();
        const claim_terms terms = gates.next_terms(both.told());
        if (const auto telling = gates.next_telling())
            seen.add(telling->enters ? both.enter(telling->gate, terms, now) : both.leave(telling->gate, terms));
        const claim asked = gates.next_claim();
        const claim_answer answer = both.decide(asked, terms, now);
        seen.add(answer);
        if (of.steady && answer.status == claim_status::decided) {
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

TEST_CASE("the script decides as the model does, while gates change their limits") {
    const bool with_day = GENERATE(true, false);
    const std::uint64_t seed = GENERATE(5u, 6u, 7u, 8u);
    const happened seen = run_scene({.seed = seed, .with_day = with_day, .steady = false}, 1500);
    CHECK(seen.counts.at("all awaited") > 0);
    CHECK(seen.counts.at("taken") > 0);
}
