/// The store of a simulated fleet, and ways to break it.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "fleet/store_model.hpp"

namespace seriesgate::testing {

/// What a gate or the store gets wrong, on purpose: the simulation has to find each of them.
struct mutants {
    // the store
    bool claims_after_closing = false;   ///< decides claims for the hour before the one that is open
    bool hour_before_not_asked = false;  ///< incumbents are newcomers
    bool repeats_counted = false;        ///< what is known is counted once more
    bool refusals_counted = false;       ///< what is refused is counted in the first of its budgets
    // a gate
    bool rules_that_changed_ignored = false;
    bool grace_cut_short = false;        ///< room that is kept lapses before its time
    bool groups_opened_locally = false;  ///< a gate gives places of their own to the groups that it sees first
    bool timeouts_remembered = false;    ///< no answer is taken for a refusal
    bool late_answers_inserted = false;  ///< into the hour that it is by then
    bool clock_runs_on = false;          ///< when the store cannot be heard, too
    bool own_counts_decide = false;      ///< of a gate that is not answered
};

class simulated_store : public store_model {
    mutants wrong_;

  public:
    explicit simulated_store(const mutants& wrong) : wrong_(wrong) {}

    claim_answer decide(const claim& asked, const claim_terms& terms, time_point now) {
        if (wrong_.claims_after_closing && terms.hour == hour_number_ - 1 && before_)
            return decide_closed(asked, terms, now);
        std::set<std::uint64_t> forgotten;
        if (wrong_.hour_before_not_asked && terms.hour == hour_number_ && before_) before_->series.swap(forgotten);
        claim_answer answer = store_model::decide(asked, terms, now);
        if (!forgotten.empty() && before_) before_->series.swap(forgotten);
        if (answer.status == claim_status::decided) count_wrongly(asked, answer);
        return answer;
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
