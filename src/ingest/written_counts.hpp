/// What a remote-write 2 sender is told about how much was written.
#pragma once

#include <cstdint>
#include <optional>

#include "net/http_fields.hpp"
#include "plan/plan_counts.hpp"

namespace seriesgate {

/// Samples, histograms and exemplars of X-Prometheus-Remote-Write-*-Written.
struct written_counts {
    std::uint64_t samples = 0;
    std::uint64_t histograms = 0;
    std::uint64_t exemplars = 0;

    written_counts& operator+=(const written_counts& other) noexcept {
        samples += other.samples;
        histograms += other.histograms;
        exemplars += other.exemplars;
        return *this;
    }
    friend bool operator==(const written_counts&, const written_counts&) = default;
};

/// The counts of a plan, where histograms are samples too.
written_counts written_of(const entry_counts& counts) noexcept;

/// @return nothing if none of the three headers is there, or one is no number. One that is missing counts 0.
/// Source: remote write 2.0, "Required Written Response Headers".
std::optional<written_counts> read_written(const http::fields& headers);

/// Sets the three headers.
void write_written(const written_counts& counts, http::fields& headers);
void erase_written(http::fields& headers);

}  // namespace seriesgate
