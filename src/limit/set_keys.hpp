/// What the admitted sets remember beside series.
#pragma once

#include <cstdint>
#include <optional>

#include "series/fingerprint.hpp"

namespace seriesgate {

/// A histogram that has begun is a key in the set, beside its series: that of its family. Every series that is then
/// admitted without room adds another one, the n-th the key n of the family, so that the set tells how many they are.
std::uint64_t completing_key(const histogram_family& family, std::uint64_t number) noexcept;

/// Of an exempt series that the limit of those had no room for: it is admitted as others are, and this key with it.
std::uint64_t beyond_exemption_key(std::uint64_t fingerprint) noexcept;

/// @param series_max see limit_rules::histogram_series_max.
/// @return the key of the next such series; nothing if there have been enough.
template <class Set>
std::optional<std::uint64_t> next_completing_key(const Set& set, const histogram_family& family,
                                                 std::uint64_t series_max) {
    // The keys are there from the first to the last, so ten lookups find the end.
    std::uint64_t first = 1;
    for (std::uint64_t end = series_max + 1; first < end;) {
        const std::uint64_t middle = first + (end - first) / 2;
        if (set.contains(completing_key(family, middle)))
            first = middle + 1;
        else
            end = middle;
    }
    if (first > series_max) return std::nullopt;
    return completing_key(family, first);
}

}  // namespace seriesgate
