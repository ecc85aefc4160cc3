/// What the readers of both versions tell of a series entry.
#pragma once

#include <cstdint>

#include "core/bytes.hpp"

namespace seriesgate {

/// One series entry of a request.
struct series_view {
    byte_range record;              ///< tag, length and payload within the body
    std::uint64_t labels_hash = 0;  ///< see fingerprint_of
    std::uint32_t samples = 0;
    std::uint32_t histograms = 0;
    std::uint32_t exemplars = 0;
    /// Holds a sample or histogram other than a stale marker: what may admit a new series.
    bool admits = false;

    bool operator==(const series_view&) const = default;
    /// Nothing but labels and metadata otherwise.
    [[nodiscard]] bool holds_data() const noexcept { return (samples | histograms | exemplars) != 0; }
};

/// The value bits that mark a series as stale (a NaN); in a histogram they stand in the sum.
/// Source: prometheus/prometheus model/value/value.go, StaleNaN.
inline constexpr std::uint64_t stale_marker_bits = 0x7ff0000000000002;

}  // namespace seriesgate
