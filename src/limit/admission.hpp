/// Decides about one new series by all budgets that apply to it; the only place where a series is refused.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "limit/commit_state.hpp"
#include "limit/limiter_state.hpp"
#include "limit/lookup_result.hpp"
#include "limit/rule_selections.hpp"
#include "limit/verdict.hpp"
#include "series/fingerprint.hpp"

namespace seriesgate {

struct decision {
    verdict how = verdict::admitted;
    limit_number limit = global_limit;  ///< limit that refuses
    bool is_arrival = false;            ///< admitted; neither the day nor the hour before had it
    bool beyond_exemption = false;      ///< the rules exempt it, but other limits decide
};

/// What decide() would answer for a series that is not in the hour's set.
struct foreseen {
    std::optional<refusal> refused{};  ///< nothing: it would be admitted
    bool with_histogram = false;       ///< refused because its histogram was
    in_windows completing{};           ///< windows without room that admit it to complete its histogram
    standing before = standing::new_series;
    bool in_histogram = false;  ///< belongs to a histogram that is kept whole
    in_windows begun{};         ///< windows in which that histogram has begun
    /// By place (budget_table::find): the windows in which that budget has no room.
    std::vector<in_windows> spent{};
};

/// Decides about the new series of one request, one after the other, under one hold of the commit lock.
///
/// A series is admitted when every budget has room; then all budgets count it. A refusal consumes nothing.
///
/// limit_rules::whole_histograms: once a histogram has begun, its further series need no room, only margin
/// (budget.hpp). Budgets still count them. If a histogram was refused, its further new series are refused too, even if
/// there is room; incumbents still pass. In a fleet the store decides which series complete their histogram.
///
/// An exempt series counts in the exempt limit alone. If that limit is full, the other budgets decide. Those budgets
/// keep room for the series in the next hour.
///
/// Warm start: series that the store has already need no room. The budgets that apply to them count them, above their
/// maxima too.
class admission {
  public:
    /// @param held proof that the caller has the commit lock.
    /// @param open provides buffers.
    /// @param are_stored see request_origin.
    /// @param is_lost fleet: the store has lost data since it decided.
    /// All arguments outlive the object.
    admission(commit_state& held, limiter_state& state, const window_sets& sets, std::string_view tenant,
              lookup_result& open, bool are_stored = false, bool is_lost = false)
        : held_(held),
          state_(state),
          sets_(sets),
          tenant_{.name = tenant},
          budgets_(open.budgets),
          counted_in_(open.counted_in),
          observing_(open.observing),
          are_stored_(are_stored),
          is_lost_(is_lost) {}

    /// @param series not in the hour's set.
    /// @param family empty unless the series is part of a histogram that is kept whole.
    /// @param by_fleet the fleet decision about the series; replaces the verdict of the shared budgets.
    /// @return nothing if the sets are full; then nothing has changed.
    std::optional<decision> decide(const offered_series& series, const histogram_family& family,
                                   const rule_selections::one& selection, const pending_decision& by_fleet);

    /// Whether other limits decide about an exempt series. In a fleet: only if the exempt limit has no room.
    [[nodiscard]] bool is_beyond_exemption(const offered_series& series, const rule_selections::one& selection);

    /// What decide() would do, without changing anything. In a fleet: by this gate's own counts.
    /// @param selection after is_beyond_exemption() was applied.
    /// The budgets are in lookup_result::budgets afterwards.
    [[nodiscard]] foreseen foresee(const offered_series& series, const histogram_family& family,
                                   const rule_selections::one& selection);

    /// Counts a series of the hour as active, in the budgets that apply to it now. It needs no room.
    /// @return false if the sets are full; then nothing has changed.
    bool activate(const offered_series& series, const rule_selections::one& selection);

    /// Fleet: refuses a series that the store was not asked about, because its histogram is refused.
    /// @param like the refusal of the other series of that histogram, if the same fleet decision contains one.
    decision refuse_with_histogram(const offered_series& series, const histogram_family& family,
                                   const std::optional<refusal>& like, const pending_decision& by_fleet);

    /// Fleet: counts a series that the store admitted over the limit. The store reports each only once, so this is
    /// called even if the gate knows the series by now.
    void count_completed(const pending_decision& by_fleet);

    /// Observing limits that had no room for the series of the last decide().
    [[nodiscard]] std::span<const spent_limit> observing() const noexcept { return observing_; }
    /// Budgets that the last decide() looked at: its cost.
    [[nodiscard]] std::size_t budgets_seen() const noexcept { return budgets_.size(); }

  private:
    struct candidate {
        const offered_series& series;
        const histogram_family& family;
        const rule_selections::one& selection;
        const pending_decision& by_fleet;
        bool new_in_day;
        bool is_active;
        standing before;
        bool in_histogram;  ///< false for exempt series: they need no room elsewhere
        in_windows begun;   ///< windows in which the histogram has begun
    };
    /// Keys that record one more series over the limit, in the windows where it completes its histogram.
    struct completion {
        std::optional<std::uint64_t> hour;
        std::optional<std::uint64_t> day;
        bool active = false;  ///< without a key: only the margin bounds them

        /// Windows in which some budget refuses a series that has no room in `spent`.
        [[nodiscard]] in_windows refusing(in_windows spent) const noexcept {
            return {.hour = spent.hour && !hour, .day = spent.day && !day, .active = spent.active && !active};
        }
    };

    std::optional<decision> decide_by(const offered_series& series, const histogram_family& family,
                                      const rule_selections::one& selection, const pending_decision& by_fleet);
    void note_exempt_demand(const offered_series& series, const rule_selections::one& selection);
    [[nodiscard]] candidate look_at(const offered_series& series, const histogram_family& family,
                                    const rule_selections::one& selection, const pending_decision& by_fleet) const;
    [[nodiscard]] in_windows spent_at(std::size_t place, const candidate& of) const;
    [[nodiscard]] budget_table::active_room active_room_at(std::size_t place, const candidate& of) const;
    /// Windows in which some budget has no room.
    struct spent_windows {
        in_windows in_any;          ///< of any budget
        in_windows in_enforcing;    ///< of an enforcing budget
        in_windows without_margin;  ///< of an enforcing budget without margin for completions
    };
    [[nodiscard]] spent_windows spent(const candidate& of) const;
    [[nodiscard]] in_windows refusing_at(std::size_t place, in_windows refusing, const candidate& of) const;
    [[nodiscard]] completion completing(const spent_windows& spent, const candidate& of) const;
    /// The result of recording a series' demand in its budgets.
    struct demand {
        limit_answer answer = limit_answer::drop;  ///< reject if any refusing limit rejects
        limit_number refusing = unknown_limit;     ///< the first limit that refuses
    };
    demand note_demand(in_windows refusing, const candidate& of);
    void count_incomplete_histogram(in_windows refusing, const candidate& of);
    decision refuse(const offered_series& series, refusal refused);
    bool take(const candidate& of, const completion& over_limit);
    [[nodiscard]] combination_number join(std::uint64_t fingerprint);
    void copy_fleet_counts(const candidate& of);
    [[nodiscard]] bool may_be_taken_back(const candidate& of) const;
    [[nodiscard]] bool is_unanswered(const pending_decision& by_fleet, const rule_selections::one& selection) const;

    commit_state& held_;
    limiter_state& state_;
    const window_sets& sets_;
    tenant_of_request tenant_;
    std::vector<budget_pair*>& budgets_;  // of the current series, by place: see budget_table::find
    std::vector<active_series::budget_number>& counted_in_;
    std::vector<spent_limit>& observing_;
    const bool are_stored_;
    const bool is_lost_;
};

/// Applies a fleet decision without remembering it: made for another hour or other rules, or none was made.
/// @param answer to the sender, if it refuses.
decision apply_unremembered(const pending_decision& by_fleet, limiter_state& state, const offered_series& series,
                            limit_answer answer);

}  // namespace seriesgate
