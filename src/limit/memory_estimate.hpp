/// How much memory the series take that a gate knows.
#pragma once

#include <cstdint>
#include <optional>

#include "limit/rules.hpp"

namespace seriesgate {

struct memory_estimate {
    /// At the global maxima. Histograms that are completed above them come on top.
    struct bound {
        std::uint64_t hour_series = 0;
        std::uint64_t day_series = 0;
        std::uint64_t bytes = 0;
    };
    /// Bytes for a series that all windows have: at rest, and while memory grows.
    std::uint64_t series_bytes_min = 0;
    std::uint64_t series_bytes_max = 0;
    std::optional<bound> at_limits{};  ///< nothing: no global maximum is enforced
};

/// Without the combinations of budgets that active series count in, and without exempt series.
/// A filter takes what blocks_for() says for each window, and up to twice that while it grows. A table takes 20 to 32
/// bytes for each series of any window, see series_table: 27 in leaves, and what is kept for growth.
memory_estimate estimate_memory(const limit_rules& rules, set_kind set);

}  // namespace seriesgate
