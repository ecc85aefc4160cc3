/// What a gate knows of histograms that are kept whole, without asking.
#pragma once

#include <cstdint>
#include <functional>

namespace seriesgate {

/// In the hour that is asked about. Null: nothing is known of any histogram, and nobody has been refused.
struct known_histograms {
    /// Whether one of its series has been taken, by whichever gate. Then nobody but the store can say what becomes of
    /// the others, spent budgets or not.
    std::function<bool(std::uint64_t family)> has_begun{};
    /// Whether this gate has refused one of its series: the others are refused unasked, so that it is refused whole.
    std::function<bool(std::uint64_t family)> is_refused{};
    /// Whether room may be kept for a series. It is asked about, whatever became of its histogram.
    std::function<bool(std::uint64_t series)> is_incumbent{};
};

}  // namespace seriesgate
