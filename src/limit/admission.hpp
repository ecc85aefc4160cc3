/// One series against all the budgets that apply to it.
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

// --- What the admitted sets remember beside series.

/// A histogram that has begun is a key in the set, beside its series: that of its family. Every series that is then
/// admitted without room adds another one, the n-th the key n of the family, so that the set tells how many they are.
std::uint64_t completing_key(const histogram_family& family, std::uint64_t number) noexcept;

/// Of an exempt series that the limit of those had no room for: it is admitted as others are, and this key with it.
std::uint64_t beyond_exemption_key(std::uint64_t fingerprint) noexcept;

/// @param series_max see limit_rules::histogram_series_max.
/// @return the key of the next such series; nothing if there have been enough.
template <class Set>
std::optional<std::uint64_t> next_completing_key(const Set& set, const histogram_family& family,
                                                 std::uint64_t series_max) {
    // The keys are there from the first to the last, so ten lookups find the end.
    std::uint64_t first = 1;
    for (std::uint64_t end = series_max + 1; first < end;) {
        const std::uint64_t middle = first + (end - first) / 2;
        if (set.contains(completing_key(family, middle)))
            first = middle + 1;
        else
            end = middle;
    }
    if (first > series_max) return std::nullopt;
    return completing_key(family, first);
}

/// What is decided about a new series.
struct decision {
    verdict how = verdict::admitted;
    limit_number by = global_limit;  ///< the limit, if it is refused
    bool is_arrival = false;         ///< admitted, and neither the day nor the hour before has had it
    bool beyond_exemption = false;   ///< decided as others are, though the rules exempt it
};

/// What would be decided about a series that the hour's set does not have.
struct foreseen {
    std::optional<refusal> refused;  ///< nothing: it would be admitted
    bool with_histogram = false;     ///< refused because its histogram was
    in_windows completing;           ///< where it would be admitted without room, since its histogram has begun
    standing before = standing::new_series;
    bool in_histogram = false;  ///< one that is kept whole
    in_windows begun;           ///< where that histogram has begun
    /// Where the budgets that apply have no room, by place.
    std::vector<in_windows> spent;
};

/// Decides about new series, one after the other, all of one request and under one hold of the lock.
///
/// All or nothing: a series is admitted when every budget has room, then all count it; a refusal consumes nothing.
/// Where histograms are kept whole, one that has begun is completed: its series need no room but a margin (see
/// budget.hpp), and are counted all the same. One whose histogram was refused is refused as that was, room or not; but
/// incumbents flow on. In a fleet the store says which series complete their histogram.
///
/// An exempt series counts in the limit of those alone. Where that has no room, it is decided as others are, and what
/// is admitted so returns to the same budgets in the next hour: room is kept for it there.
class admission {
  public:
    /// @param held proof of the lock. All of these outlive the object.
    /// @param open buffers.
    admission(commit_state& held, limiter_state& state, const window_sets& sets, std::string_view tenant,
              lookup_result& open)
        : held_(held),
          state_(state),
          sets_(sets),
          tenant_{.name = tenant},
          budgets_(open.budgets),
          observing_(open.observing) {}

    /// @param series not in the hour's set.
    /// @param family of the series, if it is part of a histogram that is kept whole.
    /// @return nothing if there is no room in the sets: then nothing has changed.
    /// @param said in a fleet, what the store has told about it: that stands in place of what the shared budgets here
    /// would say.
    std::optional<decision> decide(const offered_series& series, const histogram_family& family,
                                   const rule_selections::one& selection, const told_series& said);

    /// Whether an exempt series is decided as others are. In a fleet only where the limit of exempt ones has no room.
    [[nodiscard]] bool is_beyond_exemption(const offered_series& series, const rule_selections::one& selection);

    /// What decide() would do, and changes nothing. In a fleet: going by what this gate knows.
    /// @param selection as it is: see is_beyond_exemption.
    /// @return its budgets are in undecided::budgets.
    [[nodiscard]] foreseen foresee(const offered_series& series, const histogram_family& family,
                                   const rule_selections::one& selection);

    /// In a fleet, of a series that nobody was asked about because its histogram is refused.
    /// @param like how another of its series is refused by the same telling, if it is.
    decision refuse_with_histogram(const offered_series& series, const histogram_family& family,
                                   const std::optional<refusal>& like, const told_series& said);

    /// In a fleet, of what the store has taken: it says so once, whoever knows the series by now.
    void count_completed(const told_series& said);

    /// Limits that only observe, and have no room for the series of the last decide().
    [[nodiscard]] std::span<const spent_limit> observing() const noexcept { return observing_; }
    /// Budgets looked at by the last decide(): what it has cost.
    [[nodiscard]] std::size_t budgets_seen() const noexcept { return budgets_.size(); }

  private:
    /// A series at the gate, and what is known of it.
    struct candidate {
        const offered_series& series;
        const histogram_family& family;
        const rule_selections::one& selection;
        const told_series& said;
        bool new_in_day;
        standing before;
        bool in_histogram;  ///< exempt ones are not: they need no room, so they say nothing about the room of others
        in_windows begun;   ///< where the histogram is
    };
    /// The keys that stand for one more series over the limit, where the histogram has to be completed.
    struct completion {
        std::optional<std::uint64_t> hour;
        std::optional<std::uint64_t> day;
    };

    std::optional<decision> decide_by(const offered_series& series, const histogram_family& family,
                                      const rule_selections::one& selection, const told_series& said);
    void note_exempt_demand(const offered_series& series, const rule_selections::one& selection);
    [[nodiscard]] candidate look_at(const offered_series& series, const histogram_family& family,
                                    const rule_selections::one& selection, const told_series& said) const;
    [[nodiscard]] in_windows spent_at(std::size_t place, const candidate& of) const;
    /// Where there is no room.
    struct spent_windows {
        in_windows in_any;          ///< budget
        in_windows in_enforcing;    ///< budget: that refuses
        in_windows without_margin;  ///< one that refuses also what completes a histogram
    };
    [[nodiscard]] spent_windows spent(const candidate& of) const;
    [[nodiscard]] in_windows asked_at(std::size_t place, in_windows refusing, const candidate& of) const;
    [[nodiscard]] completion completing(const spent_windows& spent, const candidate& of) const;
    /// What the budgets without room say.
    struct demand {
        sender_notice to_sender = sender_notice::silent;  ///< if one of those that refuse wants it
        limit_number refusing = unknown_limit;            ///< the first that refuses
    };
    demand note_demand(in_windows refusing, const candidate& of);
    void note_cut(in_windows refusing, const candidate& of);
    decision refuse(const offered_series& series, refusal said);
    bool take(const candidate& of, const completion& over_limit);
    void hear(const candidate& of);
    [[nodiscard]] bool may_be_taken_back(const candidate& of) const;
    [[nodiscard]] bool is_unanswered(const told_series& said, const rule_selections::one& selection) const;

    commit_state& held_;
    limiter_state& state_;
    const window_sets& sets_;
    tenant_of_request tenant_;
    std::vector<budget_pair*>& budgets_;  // that apply to the newcomer, by place: see budget_table::find
    std::vector<spent_limit>& observing_;
};

/// Whether senders of a tenant hear of refusals by its own limit, by the global one, and for want of an answer.
sender_notice sender_notice_of(const limit_rules& rules, std::string_view tenant);

/// What is decided by a telling that cannot be remembered: of another hour, by other rules, or none at all.
/// @param to_sender whether the sender hears of a refusal.
decision repeat(const told_series& said, limiter_state& state, const offered_series& series, sender_notice to_sender);

}  // namespace seriesgate
