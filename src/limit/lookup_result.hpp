/// The open series of one request, between lookup() and commit(), and what commits them.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "limit/active_series.hpp"
#include "limit/rule_selections.hpp"
#include "limit/verdict.hpp"
#include "limit/window.hpp"
#include "series/fingerprint.hpp"

namespace seriesgate {

struct budget_pair;
struct limiter_state;

/// Filled by series_limiter::lookup, used by series_limiter::commit. It lives with the request, so other requests may
/// be decided between the two steps. The next request reuses its memory.
struct lookup_result {
    std::vector<std::uint32_t> pending;           ///< entries that may be new
    std::vector<std::uint32_t> non_admitting;     ///< entries with stale markers and exemplars only
    std::vector<std::uint32_t> ended;             ///< entries of active series that have stale markers only
    std::vector<std::uint32_t> ended_if_revived;  ///< the same of idle series: a sample beside may make them active
    /// Samples of series that were refused lately, by refusing_window.
    std::array<std::uint64_t, refusing_windows> recalled{};
    window_span hour;  ///< of the lookup

    // Results besides the verdicts.
    std::vector<limit_number> refused_by;       ///< by entry: the limit that refused it
    shares_by_limit<observed_share> observed;   ///< admitted although an observing limit has no room
    entry_share beyond_exemption;               ///< exempt, but now decided by other limits
    std::vector<std::uint32_t> newly_admitted;  ///< entries admitted; neither the day nor the hour before had them
    std::vector<std::uint32_t> returned;        ///< entries admitted that the day or the hour before had
    std::vector<std::uint32_t> newly_refused;   ///< entries refused now, not from the refused cache

    std::shared_ptr<const compiled_rules> rules;           ///< by which the selections were evaluated
    rule_selections selections;                            ///< for pending, then for non_admitting
    std::vector<histogram_family> families;                ///< of pending if histograms are kept whole, else empty
    std::vector<budget_pair*> budgets;                     ///< of the current series
    std::vector<active_series::budget_number> counted_in;  ///< numbers of these budgets
    std::vector<spent_limit> observing;                    ///< its observing limits without room

    /// Whether commit() has nothing left to decide.
    [[nodiscard]] bool is_empty() const noexcept {
        return pending.empty() && non_admitting.empty() && ended.empty() && recalled == decltype(recalled){};
    }

    void start() noexcept {
        pending.clear();
        non_admitting.clear();
        ended.clear();
        ended_if_revived.clear();
        recalled = {};
        observed.start();
        beyond_exemption = {};
        newly_admitted.clear();
        returned.clear();
        newly_refused.clear();
    }

    /// Frees the memory of a giant request and drops pointers into it. Call it between two requests.
    void shrink();
};

/// Evaluates the selectors for the pending series, in order, without the lock.
/// @return false if that needs too much work or memory, see rule_selections.
bool select_rules(const limiter_state& state, lookup_result& open, const request_origin& origin);

/// Decides about all pending series, in short pieces under the commit lock: between two other requests get their turn.
///
/// For whole histograms, a second round handles sums and counts, wherever they stand in the request. A limit by metric
/// name fills up with buckets first; it must refuse the histogram before its sum begins it.
/// @param by_fleet the fleet decision, see series_limiter::commit; the rules have been selected then.
/// @return as series_limiter::commit.
bool commit_series(limiter_state& state, std::span<const offered_series> offered, time_point now,
                   std::span<verdict> verdicts, lookup_result& open, const request_origin& origin,
                   const fleet_decision* by_fleet);

}  // namespace seriesgate
