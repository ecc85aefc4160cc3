/// A request in numbers: what came, and what was refused of it.
#pragma once

#include <cassert>
#include <cstdint>

namespace seriesgate {

struct entry_counts {
    std::uint64_t samples = 0;     ///< samples and histograms
    std::uint64_t histograms = 0;  ///< part of samples
    std::uint64_t exemplars = 0;

    entry_counts& operator+=(const entry_counts& other) noexcept {
        samples += other.samples;
        histograms += other.histograms;
        exemplars += other.exemplars;
        return *this;
    }
    entry_counts& operator-=(const entry_counts& other) noexcept {
        assert(samples >= other.samples && histograms >= other.histograms && exemplars >= other.exemplars);
        samples -= other.samples;
        histograms -= other.histograms;
        exemplars -= other.exemplars;
        return *this;
    }
    friend bool operator==(const entry_counts&, const entry_counts&) = default;
};

/// What was decided: all that may be kept of a plan when the planner goes on to another request.
struct plan_counts {
    entry_counts received;
    entry_counts refused;
    entry_counts left_out;              ///< of entries that break a rule: not for a store, and no matter of limits
    std::uint64_t left_out_series = 0;  ///< these entries
    std::uint64_t refused_series = 0;   ///< distinct within the request
    std::uint64_t refused_unknown_entries = 0;  ///< entries dropped as verdict::unknown
    std::uint64_t refused_unknown_samples = 0;  ///< their stale markers, which count as samples
    std::uint32_t metadata = 0;
    std::uint32_t empty_entries = 0;  ///< nothing but labels or metadata: no series, so they pass as metadata does

    [[nodiscard]] entry_counts accepted() const noexcept {
        entry_counts left = received;
        left -= refused;
        return left -= left_out;
    }
};

}  // namespace seriesgate
