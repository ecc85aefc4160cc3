/// The limiter's own thread.
#pragma once

#include <stop_token>

namespace seriesgate {

class series_limiter;

/// Has the limiter's filters made before they are needed, until it is told to stop. It allocates, so it is nobody's
/// request. Says so when the clock is not believed.
void maintain(const std::stop_token& stop, series_limiter& limiter);

}  // namespace seriesgate
