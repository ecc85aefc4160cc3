/// What a gate knows of shared counts without asking.
#pragma once

#include <cstdint>
#include <functional>

namespace seriesgate {

/// Series that are known to be counted in a shared budget; there may be more by now. 0: nothing is known.
struct known_count {
    std::uint64_t hourly = 0;
    std::uint64_t daily = 0;
};

/// What is known of a budget, by its id, in an hour (since the epoch) and its day: whoever knows that so many are
/// counted knows all of these series, too. Counts only grow.
using known_counts = std::function<known_count(std::int64_t hour, std::uint64_t budget)>;

}  // namespace seriesgate
