#include "metrics/metrics.hpp"

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

std::string_view name_of(reject_reason reason) noexcept {
    switch (reason) {
        case reject_reason::malformed:
            return "malformed";
        case reject_reason::too_large:
            return "too_large";
        case reject_reason::unsupported_media:
            return "unsupported_media";
        case reject_reason::method_not_allowed:
            return "method_not_allowed";
        case reject_reason::unknown_path:
            return "unknown_path";
        case reject_reason::timeout:
            return "timeout";
        case reject_reason::overloaded:
            return "overloaded";
        case reject_reason::refused:
            return "refused";
        case reject_reason::untranslated:
            return "untranslated";
        case reject_reason::loop:
            return "loop";
        case reject_reason::bad_argument:
            return "bad_argument";
        case reject_reason::pages_held:
            return "pages_held";
        case reject_reason::count_:
            break;
    }
    return "";
}

std::string_view name_of(connection_bound bound) noexcept {
    switch (bound) {
        case connection_bound::total:
            return "max_connections";
        case connection_bound::per_peer:
            return "max_connections_per_peer";
        case connection_bound::descriptors:
            return "descriptors";
        case connection_bound::count_:
            break;
    }
    return "";
}

std::string_view name_of(forward_kind kind) noexcept {
    switch (kind) {
        case forward_kind::unchanged:
            return "unchanged";
        case forward_kind::spliced:
            return "spliced";
        case forward_kind::translated:
            return "translated";
        case forward_kind::none:
            return "none";
        case forward_kind::count_:
            break;
    }
    return "";
}

std::uint64_t gate_metrics::requests_rejected_4xx() const noexcept {
    std::uint64_t sum = 0;
    for (const auto reason : {reject_reason::malformed, reject_reason::too_large, reject_reason::unsupported_media,
                              reject_reason::method_not_allowed, reject_reason::refused, reject_reason::untranslated}) {
        sum += requests_rejected[reason].value();
    }
    return sum;
}

}  // namespace seriesgate
