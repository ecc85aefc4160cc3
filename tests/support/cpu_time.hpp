// For texts whose cost must grow with their length alone: linear ones take milliseconds, quadratic ones a minute.
#pragma once

#include <ctime>

namespace seriesgate::testing {

/// What this process computes for a call, which waiting for a busy machine does not add to.
template <typename Call>
double cpu_seconds_of(const Call& call) {
    const std::clock_t began = std::clock();
    call();
    return static_cast<double>(std::clock() - began) / CLOCKS_PER_SEC;
}

}  // namespace seriesgate::testing
