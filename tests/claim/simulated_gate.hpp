/// One gate of a simulated fleet: what it is and what it knows.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "claim/shares.hpp"
#include "claim/simulated_request.hpp"
#include "claim/simulated_world.hpp"
#include "fleet/feed_progress.hpp"
#include "fleet/fleet_clock.hpp"
#include "fleet/heard_counts.hpp"
#include "limit/limiter_state.hpp"
#include "limit/window_rotation.hpp"

namespace seriesgate::testing {

/// Whether it asks its store: see fleet_state.
enum class simulated_state : std::uint8_t { joining, joined, recovering, away };

/// As fleet_shared, a gate's workers and its limiter. Refers to the world.
class simulated_gate {
    const simulated_world& world_;
    mutants wrong_;
    std::chrono::seconds own_clock_off_;
    fleet_clock clock_;
    std::int64_t buckets_hour_ = 0;
    bucket_counts buckets_;
    std::map<std::uint64_t, std::set<std::uint64_t>> opened_;  // by a mutant: shelf, budgets

  public:
    std::size_t rule;
    reserve_parts reserve;  ///< that its claims leave to shares
    std::unique_ptr<series_limiter> limiter;
    std::vector<std::unique_ptr<simulated_request>> requests{};
    std::deque<std::unique_ptr<simulated_telling>> queue{};      ///< to be told
    std::vector<std::unique_ptr<simulated_telling>> tellings{};  ///< under way
    untold_series untold;
    shares own_shares;
    heard_counts heard;
    feed_progress feed;
    bool reachable = true;
    simulated_state state = simulated_state::joining;
    std::shared_ptr<simulated_server> server{};  ///< at the other end of its connection
    std::string name;
    std::uint64_t number;          ///< of this one run of it, see claim_terms::gate
    std::string run_name;          ///< the same, with its name
    std::string offered_in{};      ///< the recovery that it has offered counts in
    bool has_offered_all = false;  ///< in that one
    bool is_troubled = true;       ///< something has kept it from that
    std::int64_t heard_hour = -1;  ///< the last that the store's clock has been heard in
    std::uint64_t reloads = 0;
    told_outcome without_answer = told_outcome::withheld;

    struct birth {
        std::size_t rule = 0;
        reserve_parts reserve = 0;
        std::chrono::seconds clock_off{};
        std::string name{};
        std::uint64_t number = 0;
        std::size_t untold_max = 0;
        std::size_t owed_max = 0;
        std::shared_ptr<simulated_server> server{};
    };
    simulated_gate(const simulated_world& world, const mutants& wrong, birth as, time_point now)
        : world_(world),
          wrong_(wrong),
          own_clock_off_(as.clock_off),
          rule(as.rule),
          reserve(as.reserve),
          limiter(std::make_unique<series_limiter>(world.rules[as.rule], now + as.clock_off, hash_key::known_to_all(),
                                                   limit_scope::fleet, tested_set())),
          untold(as.untold_max),
          own_shares(as.reserve, as.owed_max),
          server(std::move(as.server)),
          name(std::move(as.name)),
          number(as.number),
          run_name(name + "/" + std::to_string(number)) {}

    [[nodiscard]] const simulated_world& world() const { return world_; }
    [[nodiscard]] const mutants& wrong() const { return wrong_; }

    // --- time

    static fleet_clock::steady_point steady(time_point now) {
        return fleet_clock::steady_point{now.time_since_epoch()};
    }
    [[nodiscard]] bool has_heard() const { return heard_hour >= 0; }
    [[nodiscard]] time_point clock(time_point now) const {
        return wrong_.clock_runs_on ? now : clock_.now(steady(now), now + own_clock_off_);
    }
    [[nodiscard]] std::chrono::nanoseconds until_hour_ends(time_point now) const {
        return clock_.until_hour_ends(steady(now));
    }
    /// A beat of the gate's, or what an answer says besides.
    void hear(time_point store, time_point now) {
        clock_.hear(store, steady(now));
        heard_hour = std::max(heard_hour, hour_number(store));
    }
    static std::int64_t hour_number(time_point of) { return seriesgate::hour_number(of); }

    // --- what it knows of the store

    void hear(const store_windows& open, time_point now) {
        hear(open.now, now);
        if (open.hour < buckets_hour_) return;
        buckets_hour_ = open.hour;
        buckets_ = open.buckets;
    }
    [[nodiscard]] bucket_counts buckets_of(std::int64_t hour) const {
        return hour == buckets_hour_ ? buckets_ : bucket_counts{};
    }

    /// As fleet_shared::counted.
    [[nodiscard]] known_counts counted(time_point now) const {
        if (state != simulated_state::joined) return {};
        std::optional<std::int64_t> fresh = feed.fresh_hour(steady(now));
        if (wrong_.stale_feed_decides) fresh = hour_number(clock(now));
        if (!fresh) return {};
        return {.of = [this, open = *fresh](
                          std::int64_t hour,
                          std::uint64_t budget) { return hour == open ? heard.fed(hour, budget) : known_count{}; },
                .reserve = reserve};
    }

    /// Whether the counts of its server are whole, and it has said what it knew of them.
    [[nodiscard]] bool is_aware() const {
        return server->store.is_whole_at(server->run_id) && has_offered_in(server->store.since());
    }
    [[nodiscard]] bool has_offered_in(const std::string& since) const { return has_offered_all && offered_in == since; }

    /// A claim as it is sent: a mutant opens groups.
    claim sent(const simulated_claims& of) {
        claim asked = of.current();
        if (!wrong_.groups_opened_locally) return asked;
        for (claimed_budget& each : asked.budgets) {
            auto& opened = opened_[each.limit_budgets];
            if (each.limit_budgets == 0 || (!opened.contains(each.id) && opened.size() >= each.places_max)) continue;
            opened.insert(each.id);
            each.limit_budgets = 0;
        }
        return asked;
    }

    // --- its limiter

    void reload(std::size_t to) {
        rule = to;
        limiter->reconfigure(world_.rules[rule]);
        ++reloads;
    }
    [[nodiscard]] bool remembers(std::uint64_t series) const { return limiter->state().sets.read()->hour_has(series); }
    [[nodiscard]] std::optional<refusal> refuses(std::uint64_t series) const {
        return limiter->state().refused.lookup(series);
    }
    [[nodiscard]] std::int64_t hour() const {
        return hour_number(time_point{limiter->state().sets.read()->hour_span.start});
    }

    // --- what it has yet to tell

    /// Calls with each series that it has accepted at once and has yet to tell of, and the hour.
    template <class Visit>
    void each_untold(Visit visit) const {
        each_queued([&](const simulated_telling& telling) {
            if (telling.one.owed) return;
            seriesgate::untold left = telling.one;
            untold.keep_untold(left);  // others may have told
            const std::int64_t in = hour_number(left.open.hour.start);
            for (const std::uint32_t each : left.open.pending) visit(left.series[each].fingerprint, in);
        });
    }
    /// Whether it will tell of a series, if nobody else does.
    [[nodiscard]] bool is_to_tell(std::uint64_t series, std::int64_t in_hour) const {
        bool found = false;
        each_queued([&](const simulated_telling& telling) {
            if (hour_number(telling.one.open.hour.start) != in_hour) return;
            for (const offered_series& each : telling.one.series) found |= each.fingerprint == series;
        });
        return found;
    }

  private:
    template <class Visit>
    void each_queued(Visit visit) const {
        for (const auto& each : queue) visit(*each);
        for (const auto& each : tellings) visit(*each);
    }
};

}  // namespace seriesgate::testing
