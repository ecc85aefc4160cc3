/// Bounds the memory that the requests of all workers hold together.
#pragma once

#include <cstdint>

#include "metrics/metrics.hpp"

namespace seriesgate {

/// A request's share of maxInflightBytes, given back when it ends. Threads: one at a time; the gauge is shared.
class inflight_lease {
    gauge& held_by_all_;
    std::int64_t limit_;
    std::int64_t held_ = 0;

  public:
    inflight_lease(gauge& held_by_all, std::uint64_t limit)
        : held_by_all_(held_by_all), limit_(static_cast<std::int64_t>(limit)) {}
    inflight_lease(const inflight_lease&) = delete;
    inflight_lease& operator=(const inflight_lease&) = delete;
    ~inflight_lease() { held_by_all_.sub(held_); }

    /// Whether `bytes` more would fit now. Takes nothing.
    [[nodiscard]] bool has_room(std::uint64_t bytes) const noexcept {
        return held_by_all_.value() + static_cast<std::int64_t>(bytes) <= limit_;
    }

    /// Takes `bytes` more. @return false if all requests together would then hold more than the limit; nothing has
    /// been taken then.
    [[nodiscard]] bool grow(std::uint64_t bytes) noexcept {
        const auto more = static_cast<std::int64_t>(bytes);
        held_by_all_.add(more);
        if (held_by_all_.value() > limit_) {
            held_by_all_.sub(more);
            return false;
        }
        held_ += more;
        return true;
    }
};

}  // namespace seriesgate
