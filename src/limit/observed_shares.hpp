/// What the limits that only observe would have refused of one request.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "limit/limit_names.hpp"
#include "limit/verdict.hpp"

namespace seriesgate {

/// A limit without room, and the entries that were admitted all the same.
struct observed_share {
    spent_limit by;           ///< as it was for the first of them
    std::uint32_t first = 0;  ///< entry
    std::uint64_t samples = 0;
};

/// Entries that are spoken of together.
struct entry_share {
    std::uint32_t first = 0;
    std::uint64_t samples = 0;
    bool is_empty = true;

    void add(std::uint32_t entry, std::uint64_t more) noexcept {
        if (is_empty) first = entry;
        is_empty = false;
        samples += more;
    }
};

/// Adds up by limit: a request may have millions of series, and each may meet all limits. Keeps its memory from one
/// request to the next. Threads: one at a time.
class observed_shares {
    std::vector<observed_share> shares_;  // in the order in which they came
    std::vector<std::uint32_t> places_;   // by limit: one more than its index in shares_, or 0

  public:
    void start() noexcept {
        for (const observed_share& each : shares_) places_[each.by.by] = 0;
        shares_.clear();
    }

    void add(const spent_limit& by, std::uint32_t entry, std::uint64_t samples) {
        if (by.by >= places_.size()) places_.resize(by.by + std::size_t{1});
        std::uint32_t& place = places_[by.by];
        if (place == 0) {
            shares_.push_back({.by = by, .first = entry});
            place = static_cast<std::uint32_t>(shares_.size());
        }
        shares_[place - 1].samples += samples;
    }

    [[nodiscard]] std::span<const observed_share> all() const noexcept { return shares_; }
};

}  // namespace seriesgate
