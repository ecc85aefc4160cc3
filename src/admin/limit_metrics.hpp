/// The limiter's figures as metrics.
#pragma once

#include "base/metrics.hpp"
#include "limit/figures.hpp"

namespace seriesgate {

/// Windows, exempt series, and the budgets with most demand. A gate against label explosions must not cause one: at
/// most 100 tenants, 100 groups of each limit, and 1000 groups of all limits. Where 1000 are too few, all limits get an
/// equal number. /stats shows all.
void write(exposition& out, const limiter_figures& figures);

}  // namespace seriesgate
