/// What the admitted sets remember of histograms that are kept whole.
#pragma once

#include <cstdint>
#include <optional>

#include "filter/admitted_set.hpp"
#include "series/histogram_family.hpp"

namespace seriesgate {

/// So many series of one histogram are admitted without room in one window. No real one has as many buckets; a label
/// `le` that explodes must not be a way around the limits.
inline constexpr std::uint64_t completing_series_max = 1'000;

/// A histogram that has begun is a key in the set, beside its series: that of its family. Every series that is then
/// admitted without room adds another one, the n-th the key n of the family, so that the set tells how many they are.
///
/// @return the key of the next such series; nothing if there have been enough.
std::optional<std::uint64_t> next_completing_key(const admitted_set& set, const histogram_family& family);

}  // namespace seriesgate
