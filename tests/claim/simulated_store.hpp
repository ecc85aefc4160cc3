/// The store of a simulated fleet, which can be broken.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "claim/simulated_mutants.hpp"
#include "fleet/fed_claim.hpp"
#include "fleet/store_model.hpp"
#include "support/fingerprints.hpp"

namespace seriesgate::testing {

/// What a feed lacks.
struct feed_flaws {
    std::size_t kept = 0;  ///< claims of the hour at most, the last ones
    bool skips = false;    ///< some of them are missing
};

/// The model, and what beat.cpp files besides. It begins as one that has been emptied.
class simulated_store : public store_model {
    mutants wrong_;
    feed_flaws flaws_;
    std::map<std::string, time_point> seen_;  // gates, by name

  public:
    simulated_store(const mutants& wrong, const feed_flaws& flaws)
        : store_model(store_mutants{.any_server = wrong.any_server,
                                    .waits_for_nobody = wrong.recovery_waits_for_nobody,
                                    .day_not_marked = wrong.day_not_marked,
                                    .nothing_carried = wrong.nothing_carried,
                                    .any_day_before = wrong.any_day_before}),
          wrong_(wrong),
          flaws_(flaws) {
        server_.reset();
    }

    claim_answer decide(const claim& asked, claim_terms terms, time_point now) {
        if (wrong_.claims_after_closing && terms.hour == hour_number_ - 1 && before_)
            return decide_closed(asked, terms, now);
        if (wrong_.held_for_nobody) terms.accepted = true;
        if (wrong_.owed_as_newcomers) terms.owed = false;
        std::set<std::uint64_t> forgotten;
        std::set<std::string> telling;
        const std::int64_t open = hour_number_;
        if (wrong_.hour_before_not_asked && terms.hour == hour_number_ && before_) before_->series.swap(forgotten);
        if (wrong_.lapse_by_timer) hour_.telling.swap(telling);
        claim_answer answer = store_model::decide(asked, terms, now);
        if (!forgotten.empty() && before_) before_->series.swap(forgotten);
        if (!telling.empty() && open == hour_number_) hour_.telling.swap(telling);
        if (answer.status == claim_status::decided) count_wrongly(asked, answer);
        if (hour_.feed.size() > flaws_.kept) hour_.feed.erase(hour_.feed.begin());
        return answer;
    }

    telling_state enter(const std::string& gate, const claim_terms& terms, time_point now) {
        const telling_state came_of_it = store_model::enter(gate, terms, now);
        if (wrong_.place_not_kept) hour_.telling.erase(gate);
        return came_of_it;
    }

    std::pair<share_state, std::uint64_t> share(const std::string& gate, const claim_terms& terms) {
        if (!wrong_.shares_of_other_rules) return store_model::share(gate, terms);
        const auto rules = std::exchange(last_rules_, terms.all_rules);
        const std::int64_t from = std::exchange(same_from_, 0);
        const auto said = store_model::share(gate, terms);
        last_rules_ = rules;
        same_from_ = from;
        return said;
    }

    /// feed.lua, of a stream that may lack what it had.
    [[nodiscard]] feed_answer read_feed(std::int64_t hour, std::uint64_t read, std::size_t claims_max,
                                        const std::string& server) const {
        if (!is_whole(server)) return {};
        const window* const of = window_of(hour);
        feed_answer said{.is_whole = true, .since = since_, .series = of == nullptr ? 0 : of->series.size()};
        if (said.series == read) return said;
        for (std::size_t i = 0; of != nullptr && i < of->feed.size() && said.claims.size() < claims_max; ++i) {
            const fed& each = of->feed[i];
            if (each.upto <= read || (flaws_.skips && fingerprint_of(each.upto) % 16 == 0)) continue;
            said.claims.push_back({.upto = each.upto,
                                   .gate = each.gate,
                                   .fingerprints = each.series,
                                   .hourly = counts_of(each.hourly),
                                   .daily = counts_of(each.daily)});
        }
        return said;
    }

    /// What a gate may download: null if the server does not know the hour any more, or may have lost counts.
    [[nodiscard]] const std::set<std::uint64_t>* series_of(std::int64_t hour, const std::string& server) const {
        const window* const of = is_whole(server) ? window_of(hour) : nullptr;
        return of == nullptr ? nullptr : &of->series;
    }

    /// What a sign of life is answered.
    struct beat_said {
        time_point now{};
        bool is_whole = false;
        std::string since{};
        std::vector<std::string> alive{};  ///< gates whose last sign is no older than that of one that is alive
    };
    beat_said beat(const std::string& gate, const std::string& server, time_point now) {
        seen_[gate] = now;
        beat_said said{.now = now, .is_whole = is_whole(server), .since = since_, .alive = {}};
        for (const auto& [name, last] : seen_)
            if (now - last <= std::chrono::seconds{5}) said.alive.push_back(name);
        return said;
    }

    /// Whether it may decide, whatever a mutant makes of that.
    [[nodiscard]] bool is_whole_at(const std::string& server) const { return server_ == server; }
    [[nodiscard]] const std::string& since() const { return since_; }
    using store_model::is_held;
    /// What is in the day's count of a budget because it may have passed in its first hour.
    [[nodiscard]] std::uint64_t carried(std::uint64_t budget) const {
        return day_ ? window::found(day_->carried, budget) : 0;
    }
    /// Gates whose untold series of the hour come before any other.
    [[nodiscard]] std::set<std::string> waits_for(std::int64_t hour) const {
        const auto found = untold_.find(hour);
        return found == untold_.end() ? std::set<std::string>{} : found->second;
    }

  private:
    [[nodiscard]] const window* window_of(std::int64_t hour) const {
        if (hour == hour_number_) return &hour_;
        return before_ && hour == hour_number_ - 1 ? &*before_ : nullptr;
    }

    static std::vector<fed_count> counts_of(const std::map<std::uint64_t, std::uint64_t>& from) {
        std::vector<fed_count> all;
        for (const auto& [id, series] : from) all.push_back({.id = id, .series = series});
        return all;
    }

    claim_answer decide_closed(const claim& asked, const claim_terms& terms, time_point now) {
        window open = std::exchange(hour_, *before_);
        before_.reset();
        --hour_number_;
        claim_answer answer{.windows = {.now = now, .hour = hour_number_, .buckets = bucket_counts_now()}};
        in_grace_ = false;
        if (!terms.with_day || day_) decide_series(asked, terms, answer);
        if (answer.series.size() != asked.fingerprints.size()) answer.status = claim_status::closed;
        before_ = std::exchange(hour_, std::move(open));
        ++hour_number_;
        answer.windows.hour = hour_number_;
        return answer;
    }

    void count_wrongly(const claim& asked, const claim_answer& answer) {
        std::size_t next = 0;
        for (const claim_run& run : asked.runs) {
            for (std::uint32_t i = 0; i < run.series; ++i, ++next) {
                if (run.look) continue;
                const claim_outcome outcome = answer.series[next].outcome;
                if ((wrong_.repeats_counted && outcome == claim_outcome::known) ||
                    (wrong_.refusals_counted && outcome == claim_outcome::refused))
                    ++hour_.counted[asked.budgets[run.budgets[0]].id];
            }
        }
    }
};

}  // namespace seriesgate::testing
