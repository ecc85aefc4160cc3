/// The limiter's figures in the Prometheus text format.
#pragma once

#include "limit/figures.hpp"
#include "metrics/exposition.hpp"

namespace seriesgate {

/// Windows, exempt series, and the tenants' and label groups' budgets: of those the 100 with the most demand, since a
/// gate against label explosions must not make one of its own. /stats shows all.
void write(exposition& out, const limiter_figures& figures);

}  // namespace seriesgate
