/// What the readers of both versions tell of a series entry.
#pragma once

#include <cstdint>
#include <utility>

#include "core/bytes.hpp"
#include "wire/wire_error.hpp"

namespace seriesgate {

/// One series entry of a request.
struct series_view {
    byte_range record;              ///< tag, length and payload within the body
    std::uint64_t labels_hash = 0;  ///< see fingerprint_of
    /// The sum of the hashes of those labels that labels_hash leaves out; 0: it has none, or no label is left out.
    std::uint64_t ignored_hash = 0;
    std::uint32_t samples = 0;
    std::uint32_t histograms = 0;
    std::uint32_t exemplars = 0;
    /// Holds a sample or histogram other than a stale marker: what may admit a new series.
    bool admits = false;

    bool operator==(const series_view&) const = default;
    /// @param ignored part of labels_hash.
    void set_apart(std::uint64_t ignored) noexcept {
        ignored_hash = ignored;
        labels_hash -= ignored;
    }
    /// Nothing but labels and metadata otherwise.
    [[nodiscard]] bool holds_data() const noexcept { return (samples | histograms | exemplars) != 0; }
};

/// An entry that is well-formed Protocol Buffers and breaks a rule or a bound: no store is to get it.
struct left_out_series {
    series_fault fault = series_fault::label_without_name;  ///< the first
    std::uint32_t samples = 0;
    std::uint32_t histograms = 0;
    std::uint32_t exemplars = 0;

    bool operator==(const left_out_series&) const = default;
    /// Takes an entry's counts away: it is no series.
    void take_counts(series_view& of) noexcept {
        samples = std::exchange(of.samples, 0);
        histograms = std::exchange(of.histograms, 0);
        exemplars = std::exchange(of.exemplars, 0);
        of.labels_hash = 0;
        of.ignored_hash = 0;
        of.admits = false;
    }
};

/// The value bits that mark a series as stale (a NaN); in a histogram they stand in the sum.
/// Source: prometheus/prometheus model/value/value.go, StaleNaN.
inline constexpr std::uint64_t stale_marker_bits = 0x7ff0000000000002;

}  // namespace seriesgate
