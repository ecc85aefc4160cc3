/// The thread that follows the clock.
#pragma once

#include <functional>
#include <stop_token>

#include "limit/window.hpp"

namespace seriesgate {

class series_limiter;
class talkers;

/// Has the limiter's filters made before they are needed, until it is told to stop. It allocates, so it is nobody's
/// request. Says so when the clock is not believed. Ends the hours of `who`, too.
/// @param now the time by which requests are decided.
void maintain(const std::stop_token& stop, series_limiter& limiter, talkers& who,
              const std::function<time_point()>& now);

}  // namespace seriesgate
