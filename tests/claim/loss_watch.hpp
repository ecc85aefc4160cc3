/// What a simulated fleet's store has lost, and what it may cost.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "claim/simulated_watches.hpp"

namespace seriesgate::testing {

/// Counts are whole again after a loss, but for what nobody has heard. Refers to what else is watched.
class loss_watch {
    using gate_list = std::vector<std::unique_ptr<simulated_gate>>;

    simulated_watches& all_;
    std::optional<upstream_watch::allowances> before_loss_{};  // while the counts of some server are not whole
    std::int64_t whole_from_hour_ = -1, whole_from_day_ = -1;  // since something was last known that nobody has heard
    std::int64_t split_until_ = -1;

  public:
    explicit loss_watch(simulated_watches& all) : all_(all) {}

    /// The last hour with two masters.
    [[nodiscard]] std::int64_t split_until() const { return split_until_; }

    /// Of series that are known to some gate, counts may not be known to any.
    void unheard(time_point now) {
        whole_from_hour_ = hour_opened(now) + 1;
        whole_from_day_ = hour_opened(now) / 24 + 1;
    }

    /// The counts of this server may not be whole any more.
    void lost(const simulated_server& at, time_point now) {
        if (!before_loss_) before_loss_ = all_.upstream.excess();
        all_.of(at).lost(at.store, now);
        all_.shares.lost(at.run_id);
        ++all_.seen["losses"];
    }

    void split(const simulated_server& copy, time_point now) {
        all_.upstream.split(copy.store);
        before_loss_ = all_.upstream.excess();
        all_.of(copy).lost(copy.store, now);
        split_until_ = never;
        ++all_.seen["splits"];
    }
    void end_split(const simulated_server& left, time_point now) {
        all_.upstream.end_split();
        all_.of(left).lost(left.store, now);
        split_until_ = hour_opened(now);
        if (left.store.is_whole_at(left.run_id)) before_loss_.reset();
    }

    /// The counts of a server are whole again: it has them of all gates that could reach it.
    void recovered(const simulated_server& at, const gate_list& gates, bool is_split, time_point now) {
        all_.of(at).lost(at.store, now);
        if (!before_loss_) before_loss_ = all_.upstream.excess();
        bool all_well = !is_split;
        std::set<std::uint64_t> waited_for;
        for (const auto& gate : gates) {
            all_well &= !gate->is_troubled;
            if (gate->server.get() != &at) continue;
            if (!gate->is_troubled && !is_split) has_offered(*gate, at.store);
            gate->each_untold([&](std::uint64_t series, std::int64_t hour) {
                const bool is_waited_for = at.store.waits_for(hour).contains(gate->run_name);
                if (is_waited_for) waited_for.insert(series);
                require(is_waited_for || gate->is_troubled || is_split || hour < at.store.hour_number() ||
                            all_.upstream.is_counted(series, hour),
                        "the store does not wait for what a gate has yet to tell");
            });
        }
        if (!waited_for.empty()) ++all_.seen["held"];
        ++all_.seen[all_well ? "recoveries of all" : "recoveries"];
        const std::int64_t open = simulated_gate::hour_number(now);  // what was untold in one before is told no more
        all_.upstream.settle_loss({.store = at.store,
                                   .before = *before_loss_,
                                   .waited_for = waited_for,
                                   .whole_from_hour = all_well ? std::max(whole_from_hour_, open) : never,
                                   .whole_from_day = all_well ? std::max(whole_from_day_, open / 24) : never});
        if (!is_split) before_loss_.reset();
    }

    /// A gate has heard that its server's counts are whole, and has said all that it knew.
    void joined(const simulated_gate& gate) const {
        if (gate.heard_hour / 24 > split_until_ / 24) has_offered(gate, gate.server->store);
    }

  private:
    static constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max() / 2;

    static std::int64_t hour_opened(time_point now) {
        return simulated_gate::hour_number(now + std::chrono::seconds{5});
    }

    /// What a gate has heard, its server has counted.
    static void has_offered(const simulated_gate& gate, const simulated_store& store) {
        const count_offer all = gate.heard.grown_since(0);
        for (const offered_budget& each : all.budgets) {
            const bool in_hour = each.hourly != 0 && all.hour >= store.hour_number();
            require(!in_hour || (all.hour == store.hour_number() && store.hour().count(each.id) >= each.hourly),
                    "the store is whole and has fewer in an hour than a gate has heard");
            const bool in_day = each.daily != 0 && all.hour / 24 == store.hour_number() / 24;
            require(!in_day || (store.day() && store.day()->count(each.id) >= each.daily),
                    "the store is whole and has fewer in a day than a gate has heard");
        }
    }
};

}  // namespace seriesgate::testing
