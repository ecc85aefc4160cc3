/// The store's counts, for the figures of a gate.
#pragma once

#include "claim/fleet_rules.hpp"
#include "claim/fleet_view.hpp"

namespace seriesgate {

class series_limiter;

/// Shows what was heard last of each budget that the store counts, in place of what this gate has counted itself.
void show_heard_counts(series_limiter& limiter, const fleet_view& view, fleet_rules& rules);

}  // namespace seriesgate
