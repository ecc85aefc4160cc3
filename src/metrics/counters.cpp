#include "metrics/counters.hpp"

#include <algorithm>

namespace seriesgate {

void duration_histogram::observe(std::chrono::nanoseconds duration) noexcept {
    duration = std::max(duration, std::chrono::nanoseconds::zero());
    const auto bucket = std::ranges::lower_bound(bounds, duration, {}, &bucket_bound::upper) - bounds.begin();
    buckets_[static_cast<std::size_t>(bucket)].fetch_add(1, std::memory_order_relaxed);
    sum_nanoseconds_.fetch_add(static_cast<std::uint64_t>(duration.count()), std::memory_order_relaxed);
}

duration_histogram::snapshot duration_histogram::read() const noexcept {
    snapshot result{};
    std::uint64_t seen = 0;
    for (std::size_t i = 0; i < bounds.size(); ++i) {
        seen += buckets_[i].load(std::memory_order_relaxed);
        result.cumulative[i] = seen;
    }
    // Counted from the buckets instead of kept apart, so that +Inf can never be below the bucket before it.
    result.count = seen + buckets_.back().load(std::memory_order_relaxed);
    result.sum = std::chrono::nanoseconds{sum_nanoseconds_.load(std::memory_order_relaxed)};
    return result;
}

}  // namespace seriesgate
