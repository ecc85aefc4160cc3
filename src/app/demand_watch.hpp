/// The thread that watches what limits are asked for.
#pragma once

#include <functional>
#include <stop_token>

#include "limit/window.hpp"

namespace seriesgate {

class observed_demand;
class series_limiter;

/// Has the demand of the limiter's windows taken down, until it is told to stop.
/// @param now the time by which requests are decided.
void watch_demand(const std::stop_token& stop, observed_demand& demand, series_limiter& limiter,
                  const std::function<time_point()>& now);

}  // namespace seriesgate
