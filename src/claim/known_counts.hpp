/// What a gate knows of shared counts without asking.
#pragma once

#include <cstdint>
#include <functional>

#include "claim/reserve.hpp"

namespace seriesgate {

/// Series that are known to be counted in a shared budget; there may be more by now. 0: nothing is known.
struct known_count {
    std::uint64_t hourly = 0;
    std::uint64_t daily = 0;
};

/// Of all budgets.
struct known_counts {
    /// What is known of one, by its id, in an hour (since the epoch) and its day: whoever knows that so many are
    /// counted knows all of these series, too. Counts only grow. Null: nothing is known of any.
    std::function<known_count(std::int64_t hour, std::uint64_t budget)> of{};
    reserve_parts reserve = 0;  ///< that claims leave to shares
    /// Whether a series is known in the hour, though its budgets are not: nobody is asked about it. Null: none is.
    std::function<bool(std::uint64_t series)> knows{};
};

}  // namespace seriesgate
