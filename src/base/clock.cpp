#include "base/clock.hpp"

#include <ctime>

namespace seriesgate {

std::chrono::nanoseconds thread_cpu_clock::now() noexcept {
    if (virtual_clock::installed() != nullptr) return {};
    std::timespec used{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return std::chrono::seconds{used.tv_sec} + std::chrono::nanoseconds{used.tv_nsec};
}

}  // namespace seriesgate
