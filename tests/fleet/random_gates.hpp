/// Gates that claim at random.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fleet/store_and_model.hpp"
#include "support/fingerprints.hpp"

namespace seriesgate::testing {

/// What the random claims of one scene have in common.
struct scene {
    std::uint64_t seed = 0;
    bool with_day = true;
    bool steady = true;           ///< maxima and rules never change, so that no room is ever promised twice
    bool places_for_all = false;  ///< no budget of a shelf has to share
    std::uint32_t reserve = 0;    ///< what of each maximum is left to shares, see claim/reserve.hpp
    bool histograms = false;      ///< some series are parts of histograms that are kept whole
};

/// A fleet of made-up gates: few series, small budgets, so that everything happens often.
class random_gates {
    scene scene_;
    random_numbers random_;
    std::int64_t hour_ = first_hour + 21;  // soon after, a day ends
    std::chrono::seconds in_hour_{0};

  public:
    explicit random_gates(scene of) : scene_(of), random_(of.seed) {}

    /// Of which claims are made now.
    [[nodiscard]] std::int64_t hour() const { return hour_; }

    time_point moment_after(std::chrono::seconds passed) {
        in_hour_ += passed;
        while (in_hour_ >= std::chrono::hours{1}) {
            in_hour_ -= std::chrono::hours{1};
            ++hour_;
        }
        return time_point{std::chrono::hours{hour_} + in_hour_ + std::chrono::microseconds{random_.below(1'000'000)}};
    }

    time_point next_moment() {
        std::chrono::seconds passed{random_.below(90)};
        if (random_.one_in(30)) passed = std::chrono::hours{1} - in_hour_;
        if (random_.one_in(300)) passed += std::chrono::hours{random_.below(3)};
        return moment_after(passed);
    }

    claim_terms next_terms(const store_windows& told) {
        claim_terms terms{.hour = hour_,
                          .rules = scene_.steady || !random_.one_in(40) ? 1u : 2u,
                          .all_rules = scene_.steady || !random_.one_in(40) ? 3u : 4u,
                          .grace = 600,
                          .with_day = scene_.with_day,
                          .reserve = scene_.reserve,
                          .histogram_series_max = 1 + random_.below(40),
                          .histogram_margin = static_cast<std::uint32_t>(random_.below(1'500)),
                          .room = random_.below(3) * 300,
                          .day_room = random_.below(3) * 700,
                          .buckets = told.buckets,
                          .gate = random_.below(3)};
        if (scene_.reserve != 0 && !scene_.steady) {
            terms.owed = random_.one_in(6);
            terms.accepted = !terms.owed && random_.one_in(6);
            if (random_.one_in(20)) terms.reserve = static_cast<std::uint32_t>(random_.below(reserve_max + 1));
        }
        if (in_hour_ >= std::chrono::seconds{3590}) terms.hour += random_.below(2);
        if (random_.one_in(25)) terms.hour += static_cast<std::int64_t>(random_.below(4)) - 2;
        if (!scene_.steady && random_.one_in(10)) terms.with_day = !terms.with_day;
        if (in_hour_ >= std::chrono::seconds{600} && random_.one_in(2)) terms.buckets.before = 0;
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

    /// A gate that asks for its shares, of more than there are.
    std::optional<std::string> next_sharing() {
        if (scene_.reserve == 0 || !random_.one_in(8)) return std::nullopt;
        return "g" + std::to_string(random_.below(20));
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
            for (std::uint32_t i = 0; i < run.series; ++i) {
                const std::uint64_t one = random_.below(6);
                asked.fingerprints.push_back(fingerprint_of(group + groups * one));
                // Of each group a histogram of two series, one of three, and one that is in none.
                if (scene_.histograms)
                    asked.families.push_back(one == 5 ? 0 : fingerprint_of(400 + 2 * group + one / 3));
            }
            asked.runs.push_back(std::move(run));
        }
        return asked;
    }

  private:
    static constexpr std::uint64_t tenants = 3, groups = 11;

    std::uint64_t limit(std::uint64_t maximum) {
        // Shares need maxima of some size: half of 32 and a few more leaves one series to each.
        if (scene_.reserve != 0 && maximum != 0) maximum += 31;
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
                           .limit_budgets = 7,
                           .places_max = scene_.places_for_all ? 100 : limit(6),
                           .overflow_id = 9,
                           .overflow_maxima = {.hourly = limit(4), .daily = limit(6)}});
        for (std::uint64_t i = 0; i < 4; ++i)
            all.push_back({.id = fingerprint_of(300 + i),
                           .maxima = {.hourly = limit(7), .daily = limit(0)},
                           .limit_budgets = i == 0 ? 0u : 8u,
                           .places_max = scene_.places_for_all ? 100u : 1u,
                           .overflow_id = 10,
                           .overflow_maxima = {.hourly = limit(9), .daily = limit(11)}});
        return all;
    }
};

}  // namespace seriesgate::testing
