/// What each limit has refused of one request, or would have.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "limit/rules.hpp"
#include "plan/plan.hpp"

namespace seriesgate {

/// Adds up by limit. Keeps its memory from one request to the next. Threads: one at a time.
class limit_shares {
    std::vector<limit_share> shares_;    // in the order in which they came
    std::vector<std::uint32_t> places_;  // by limit: one more than its index in shares_, or 0

  public:
    void start() noexcept {
        for (const limit_share& each : shares_) places_[each.limit] = 0;
        shares_.clear();
    }

    /// @return false if the limit has no share yet: then it wants begin().
    bool add(limit_number limit, std::uint64_t samples) noexcept {
        if (limit >= places_.size() || places_[limit] == 0) [[unlikely]]
            return false;
        shares_[places_[limit] - 1].samples += samples;
        return true;
    }
    void begin(const limit_share& first) {
        if (first.limit >= places_.size()) places_.resize(first.limit + std::size_t{1});
        shares_.push_back(first);
        places_[first.limit] = static_cast<std::uint32_t>(shares_.size());
    }

    [[nodiscard]] std::span<const limit_share> all() const noexcept { return shares_; }
};

}  // namespace seriesgate
