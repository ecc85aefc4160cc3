/// The time of day, for a core that asks no clock.
#pragma once

#include <chrono>

namespace seriesgate {

inline std::chrono::sys_time<std::chrono::nanoseconds> wall_clock_now() {
    return std::chrono::time_point_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now());
}

}  // namespace seriesgate
