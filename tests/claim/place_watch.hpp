/// Whether a simulated fleet's groups and tenants have budgets of their own as far as there are places.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <utility>

#include "claim/simulated_store.hpp"
#include "claim/simulated_world.hpp"
#include "claim/violation.hpp"

namespace seriesgate::testing {

/// Of one server. Refers to the world.
class place_watch {
    struct places {
        std::set<std::uint64_t> budgets{};
        std::uint64_t opened = 0;  // those that had none in the hour before
    };

    const simulated_world* world_;
    std::map<std::pair<std::int64_t, std::uint64_t>, places> all_{};  // by window and shelf

  public:
    explicit place_watch(const simulated_world& world) : world_(&world) {}

    /// The store has decided in the hour that is open, and has lost nothing in its day.
    void check(const claim& asked, const claim_terms& terms, const simulated_store& store) {
        if (world_->changes == rule_changes::rules) return;
        const std::int64_t hour = store.hour_number();
        const std::int64_t window = terms.with_day ? hour / 24 : hour;
        for (const claimed_budget& each : asked.budgets) {
            const simulated_world::known_budget& known = world_->budgets.at(each.id);
            if (known.limit_budgets == 0 || store.hour().count(each.id) == 0) continue;
            auto& [budgets, opened] = all_[{window, known.limit_budgets}];
            const bool had_place =
                (store.before() && store.before()->count(each.id) != 0) || store.carried(each.id) != 0;
            if (budgets.insert(each.id).second && !had_place) ++opened;
            require(opened <= known.places_max, "more budgets have been opened than there are places");
        }
        while (all_.size() > 50) all_.erase(all_.begin());
    }
};

}  // namespace seriesgate::testing
