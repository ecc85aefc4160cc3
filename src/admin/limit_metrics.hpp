/// The limiter's figures in the Prometheus text format.
#pragma once

#include "base/metrics.hpp"
#include "limit/figures.hpp"

namespace seriesgate {

/// Windows, exempt series, and the budgets with the most demand, since a gate against label explosions must not make
/// one of its own: of 100 tenants, and of 100 groups of each limit, so that one with many hides no other's. Of all
/// limits together 1000: where that is too few, each shows as many as the others, or all that it has. /stats shows all.
void write(exposition& out, const limiter_figures& figures);

}  // namespace seriesgate
