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
#include "fleet/store_model.hpp"

namespace seriesgate::testing {

/// The model, and what beat.cpp files besides. It begins as one that has been emptied.
class simulated_store : public store_model {
    mutants wrong_;
    std::map<std::string, time_point> seen_;  // gates, by name

  public:
    explicit simulated_store(const mutants& wrong)
        : store_model(store_mutants{.any_server = wrong.any_server,
                                    .waits_for_nobody = wrong.recovery_waits_for_nobody,
                                    .day_not_marked = wrong.day_not_marked,
                                    .nothing_carried = wrong.nothing_carried,
                                    .any_day_before = wrong.any_day_before}),
          wrong_(wrong) {
        server_.reset();
    }

    claim_answer decide(const claim& asked, claim_terms terms, time_point now) {
        if (wrong_.claims_after_closing && terms.hour == hour_number_ - 1 && before_)
            return decide_closed(asked, terms, now);
        if (wrong_.held_for_nobody) terms.accepted = true;
        std::set<std::uint64_t> forgotten;
        std::set<std::string> telling;
        const std::int64_t open = hour_number_;
        if (wrong_.hour_before_not_asked && terms.hour == hour_number_ && before_) before_->series.swap(forgotten);
        if (wrong_.lapse_by_timer) hour_.telling.swap(telling);
        claim_answer answer = store_model::decide(asked, terms, now);
        if (!forgotten.empty() && before_) before_->series.swap(forgotten);
        if (!telling.empty() && open == hour_number_) hour_.telling.swap(telling);
        if (answer.status == claim_status::decided) count_wrongly(asked, answer);
        return answer;
    }

    telling_state enter(const std::string& gate, const claim_terms& terms, time_point now) {
        const telling_state came_of_it = store_model::enter(gate, terms, now);
        if (wrong_.place_not_kept) hour_.telling.erase(gate);
        return came_of_it;
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
