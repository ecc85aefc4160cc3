/// What the series of one classic histogram have in common.
#pragma once

#include <cstdint>

namespace seriesgate {

/// The classic histogram (or summary) that a series is part of, going by its name: `x_bucket` with a label `le`,
/// `x_sum` or `x_count`. Whether such a histogram exists cannot be told: a counter that is called `x_count` is a family
/// of one.
struct histogram_family {
    std::uint64_t fingerprint = 0;  ///< equal for all its series, and no series' own; 0: part of none
    bool is_total = false;          ///< `_sum` or `_count`

    explicit operator bool() const noexcept { return fingerprint != 0; }
    friend bool operator==(const histogram_family&, const histogram_family&) = default;
};

}  // namespace seriesgate
