/// What the lookups of one request have left open.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "limit/rule_selections.hpp"
#include "limit/verdict.hpp"
#include "limit/window.hpp"
#include "series/fingerprint.hpp"

namespace seriesgate {

struct budget_pair;
struct limiter_state;
struct request_origin;

/// Filled by series_limiter::lookup, used up by settle(): what may be new, and what it takes to decide about it. Lives
/// with the request, so that others may be decided between the two. Its memory is used again for the next one.
struct lookup_result {
    std::vector<std::uint32_t> pending;    ///< entries that may be new
    std::vector<std::uint32_t> followers;  ///< entries of stale markers and exemplars only
    std::uint64_t recalled_hourly = 0;     ///< samples of series that were refused lately
    std::uint64_t recalled_daily = 0;
    window_span hour;  ///< in which it was looked up

    // What is said besides the verdicts.
    std::vector<limit_number> refused_by;       ///< by entry: the limit, of those that are refused
    observed_shares observed;                   ///< admitted although limits that only observe have no room
    entry_share beyond_exemption;               ///< exempt, and decided now as others are
    std::vector<std::uint32_t> newly_admitted;  ///< entries admitted that neither the day nor the hour before has had
    std::vector<std::uint32_t> returned;        ///< entries admitted that one of these has had
    std::vector<std::uint32_t> newly_refused;   ///< entries refused now, and not remembered from before

    std::shared_ptr<const compiled_rules> rules;  ///< by which these were evaluated
    rule_selections selections;                   ///< of pending, then of followers
    std::vector<histogram_family> families;       ///< of pending, while histograms are kept whole; else empty
    std::vector<budget_pair*> budgets;            ///< of the series that is being decided
    std::vector<spent_limit> observing;           ///< its limits that only observe, and have no room

    /// Whether settle() has nothing to do.
    [[nodiscard]] bool is_empty() const noexcept {
        return pending.empty() && followers.empty() && recalled_hourly == 0 && recalled_daily == 0;
    }

    /// Before another request.
    void start() noexcept {
        pending.clear();
        followers.clear();
        recalled_hourly = 0;
        recalled_daily = 0;
        observed.start();
        beyond_exemption = {};
        newly_admitted.clear();
        returned.clear();
        newly_refused.clear();
    }

    /// Between two requests: gives the memory of a giant back, and forgets what it has been shown.
    void shrink();
};

/// Evaluates the selectors for what is pending, in that order, without the lock.
/// @return false if that asks for too much, see rule_selections.
bool select_rules(const limiter_state& state, lookup_result& open, const request_origin& origin);

}  // namespace seriesgate
