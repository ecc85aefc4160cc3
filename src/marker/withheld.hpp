/// Which budgets withhold data, and whom to tell.
#pragma once

#include <span>
#include <string>

#include "claim/reserve.hpp"
#include "limit/figures.hpp"
#include "limit/window.hpp"
#include "marker/marker.hpp"

namespace seriesgate {

/// A tenant of which samples were refused.
struct refused_tenant {
    std::string limit;   ///< that refused them: the first of several that are spent
    std::string tenant;  ///< as its senders name it; empty: not at all
    time_point last;     ///< when it did so last
};

/// A marker for each budget that enforces, has refused something in its running window, and has no room for newcomers.
///
/// A tenant's budget has one under that tenant. A budget that is no tenant's has one under each tenant that its limit
/// has refused something in the window; if others were spent before it each time, under each tenant that any limit has.
/// The same goes for the budget that further tenants share, but for tenants that have one of their own. So a marker is
/// written only as senders have written themselves, and only where something is missing.
///
/// @param refused in any order, a pair of limit and tenant once.
/// @param reserve what claims leave of each maximum, in a fleet: there is no room above the rest.
/// @return markers_max at most, those with the most refused series. Texts that are the same once they are cut share
/// one, with the larger value.
marker_values find_withheld(const limiter_figures& figures, std::span<const refused_tenant> refused,
                            reserve_parts reserve);

}  // namespace seriesgate
