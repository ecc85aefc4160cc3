/// What follows the clock, beside all requests.
#pragma once

#include <functional>
#include <memory>

#include "admin/gate_counts.hpp"
#include "core/synchronization.hpp"
#include "limit/window.hpp"
#include "net/asio.hpp"
#include "net/async.hpp"

namespace seriesgate {

class noted_series;
class observed_demand;
class series_limiter;

/// Has the limiter's filters made before they are needed. It allocates, so no request does it. Logs a leap of the clock
/// that is in doubt. Ends the hours of what is noted, too. Spawn it once; what is passed outlives the event loop.
/// @param now the time by which requests are decided.
/// @param admits is notified when new series come after none have.
net::awaitable<void> maintain(series_limiter& limiter, noted_series& noted, std::function<time_point()> now,
                              std::shared_ptr<async_event> admits);

/// Takes down the demand of the limiter's windows. Spawn it once; what is passed outlives the event loop.
/// @param now the time by which requests are decided.
net::awaitable<void> watch_demand(observed_demand& demand, series_limiter& limiter, std::function<time_point()> now);

/// Takes down what stores have answered. Spawn it once; what is passed outlives the event loop.
net::awaitable<void> watch_delivery(guarded<delivery_record>& into, std::function<gate_counts()> counts,
                                    std::function<time_point()> now);

}  // namespace seriesgate
