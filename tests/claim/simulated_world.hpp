/// What a simulated fleet is about: some series, and the limits over them.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "claim/request_budgets.hpp"
#include "claim/reserve.hpp"
#include "claim/rule_terms.hpp"
#include "limit/labelled.hpp"

namespace seriesgate::testing {

/// In what the rules of a fleet's gates may differ.
enum class rule_changes : std::uint8_t { none, maxima, rules };

struct simulated_series {
    std::uint64_t fingerprint = 0;
    std::size_t tenant = 0;
    label_set labels{};
};

/// 8 to 20 series of some tenants and teams, and one or two ways to limit them, with budgets of a few series.
class simulated_world {
  public:
    /// A budget of the store, over all rules that gates may have.
    struct known_budget {
        series_maxima maxima{};  ///< the largest
        std::uint64_t limit_budgets = 0;
        std::uint64_t places_max = 0;
        /// All rules count the same series in it.
        bool is_steady = true;
    };

    rule_changes changes;
    reserve_parts reserve;  ///< that claims leave to shares; half, for budgets are small; 0: there are none
    bool mixes_reserves;    ///< some gates leave none
    std::size_t feed_kept;  ///< of an hour: claims that its feed has at most
    bool feed_skips;        ///< and some are missing in it
    std::vector<std::string> tenants{"red", "green", "blue"};
    std::vector<simulated_series> series{};
    std::vector<limit_rules> rules{};
    std::map<std::uint64_t, known_budget> budgets{};  ///< by id
    std::set<std::uint64_t> never_shared{};           ///< series that some rules do not ask about

    explicit simulated_world(random_numbers& random)
        : changes(static_cast<rule_changes>(random.below(3))),
          reserve(random.one_in(3) ? reserve_max : 0),
          mixes_reserves(reserve != 0 && random.one_in(4)),
          feed_kept(random.one_in(3) ? 1 + random.below(8) : 50),
          feed_skips(random.one_in(4)) {
        const std::size_t count = reserve == 0 ? 8 + random.below(13) : 36 + random.below(30);
        const std::uint64_t teams = changes == rule_changes::rules ? 2 : 1 + random.below(5);
        for (std::uint64_t i = 0; i < count; ++i) series.push_back(random_series(i, teams, random));
        rules.push_back(random_rules(random));
        if (changes == rule_changes::rules) limit_teams_most(rules[0], random);
        if (changes == rule_changes::maxima) rules.push_back(with_other_maxima(rules[0], random));
        if (changes == rule_changes::rules) rules.push_back(with_other_rules(rules[0]));
        if (changes == rule_changes::maxima && is_the_same(rules[0], rules[1])) {  // by chance, or there are none
            rules.pop_back();
            changes = rule_changes::none;
        }
        for (const limit_rules& each : rules) describe(each);
        for (auto& [id, budget] : budgets) budget.is_steady = is_same_everywhere(id);
    }

    /// All gates have the same rules, and leave the same of each maximum.
    [[nodiscard]] bool is_uniform() const { return changes == rule_changes::none && !mixes_reserves; }

    /// What the store files a series under, by these rules.
    [[nodiscard]] const std::vector<claimed_budget>& budgets_of(std::size_t rule, std::uint64_t fingerprint) const {
        return budgets_[rule].at(fingerprint);
    }

  private:
    std::vector<std::map<std::uint64_t, std::vector<claimed_budget>>> budgets_;  // by rules, by series

    static simulated_series random_series(std::uint64_t number, std::uint64_t team_count, random_numbers& random) {
        static constexpr std::array teams{"ants", "bees", "cats", "dogs", "eels"};
        static constexpr std::array jobs{"api", "api", "batch", "cron"};
        return {.fingerprint = fingerprint_of(number),
                .tenant = random.below(3),
                .labels = {{"job", jobs[random.below(jobs.size())]}, {"team", teams[random.below(team_count)]}}};
    }

    /// Half of 32 leaves one series to each share.
    [[nodiscard]] series_maxima random_maxima(random_numbers& random, std::uint64_t largest) const {
        std::uint64_t hourly = random.one_in(4) ? 0 : 1 + random.below(largest);
        if (reserve != 0 && hourly != 0 && !random.one_in(5)) hourly = (random.one_in(4) ? 64 : 32) + random.below(3);
        const std::uint64_t more = 1 + random.below(reserve == 0 ? 3 : 20);
        return {.hourly = hourly, .daily = random.one_in(2) ? 0 : hourly + more};
    }

    [[nodiscard]] limit_rules random_rules(random_numbers& random) const {
        limit_rules made{.global = random_maxima(random, 8)};
        made.tenants.fallback = random_maxima(random, 5);
        if (random.one_in(3)) made.tenants.tenants_max = 1 + random.below(2);
        if (random.one_in(4)) made.tenants.overrides["red"] = random_maxima(random, 5);
        label_limit teams;
        teams.name = "teams";
        teams.each = {"team"};
        teams.maxima = random_maxima(random, 5);
        if (random.one_in(2)) teams.groups_max = 1 + random.below(4);
        if (random.one_in(3)) teams.match = selecting("{job!=\"batch\",team!=\"\"}");
        if (random.one_in(3)) teams.per_tenant = true;
        if (random.one_in(3)) teams.overrides = {{.group = {{"team", "bees"}}, .maxima = random_maxima(random, 5)}};
        made.limits.push_back(std::move(teams));
        if (random.one_in(3)) {
            label_limit& jobs = made.limits.emplace_back();
            jobs.name = "jobs";
            jobs.each = {"job"};
            jobs.maxima.hourly = 1;
            jobs.mode = limit_mode::observe;
        }
        if (random.one_in(3)) made.exempt.push_back(selecting("{job=\"cron\"}"));
        return made;
    }

    /// What the rules differ in is to matter.
    void limit_teams_most(limit_rules& of, random_numbers& random) const {
        of.limits[0].maxima.hourly = (reserve == 0 ? 2 : 32) + random.below(3);
        of.limits[0].per_tenant = false;
        if (random.one_in(3)) return;
        of.global = {};
        of.tenants.fallback = {};
    }

    /// The same limits: none comes, none goes.
    [[nodiscard]] limit_rules with_other_maxima(limit_rules from, random_numbers& random) const {
        const auto change = [&](series_maxima& of) {
            for (std::uint64_t* each : {&of.hourly, &of.daily})
                if (*each != 0) *each = reserve != 0 && !random.one_in(4) ? 32 + random.below(33) : 1 + random.below(6);
        };
        change(from.global);
        change(from.tenants.fallback);
        change(from.limits[0].maxima);
        return from;
    }

    static bool is_the_same(const limit_rules& one, const limit_rules& other) {
        return all_rules_identity(compiled_rules{one}) == all_rules_identity(compiled_rules{other});
    }

    /// The same maxima: other series come to the budgets of the limit.
    static limit_rules with_other_rules(limit_rules from) {
        label_limit& teams = from.limits[0];
        if (teams.match)
            teams.match = std::nullopt;
        else
            teams.match = selecting("{job=\"api\"}");
        return from;
    }

    void describe(const limit_rules& written) {
        const compiled_rules compiled{written};
        auto& by_series = budgets_.emplace_back();
        for (const simulated_series& each : series) {
            const std::vector<label_view> labels = views_of(each.labels);
            rule_selections selections;
            selections.append(compiled, tenants[each.tenant], labels);
            request_budgets all{hash_key::known_to_all()};
            std::vector<request_budgets::applying> found;
            all.start(compiled, tenants[each.tenant]);
            all.find(selections[0], found);
            if (found.empty()) never_shared.insert(each.fingerprint);
            auto& own = by_series[each.fingerprint];
            for (const auto& [budget, place] : found) {
                own.push_back(all.all()[budget]);
                note(own.back());
            }
        }
    }

    void note(const claimed_budget& of) {
        raise(budgets[of.id], of.maxima);
        budgets[of.id].limit_budgets = of.limit_budgets;
        budgets[of.id].places_max = std::max(budgets[of.id].places_max, of.places_max);
        if (of.limit_budgets != 0) raise(budgets[of.overflow_id], of.overflow_maxima);
    }

    static void raise(known_budget& of, const series_maxima& to) {
        of.maxima.hourly = std::max(of.maxima.hourly, to.hourly);
        of.maxima.daily = std::max(of.maxima.daily, to.daily);
    }

    [[nodiscard]] bool is_same_everywhere(std::uint64_t id) const {
        const auto members = [id](const auto& by_series) {
            std::set<std::uint64_t> found;
            for (const auto& [fingerprint, all] : by_series)
                for (const claimed_budget& each : all)
                    if (each.id == id || (each.limit_budgets != 0 && each.overflow_id == id)) found.insert(fingerprint);
            return found;
        };
        return std::ranges::all_of(budgets_, [&](const auto& each) { return members(each) == members(budgets_[0]); });
    }
};

}  // namespace seriesgate::testing
