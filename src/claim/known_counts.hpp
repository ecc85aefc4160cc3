/// What a gate knows of shared counts without asking.
#pragma once

#include <cstdint>
#include <functional>

namespace seriesgate {

/// How many series of an hour (since the epoch) are known to be counted in a shared budget, by its id; counts only
/// grow. 0 where that is not known.
using known_hourly_counts = std::function<std::uint64_t(std::int64_t hour, std::uint64_t budget)>;

}  // namespace seriesgate
