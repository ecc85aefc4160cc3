#include "limit/histogram_keys.hpp"

namespace seriesgate {
namespace {

/// Source: Steele, Lea, Flood, "Fast Splittable Pseudorandom Number Generators", 2014 (SplitMix64).
std::uint64_t completing_key(std::uint64_t family, std::uint64_t number) noexcept {
    std::uint64_t key = family + number * 0x9e3779b97f4a7c15;
    key = (key ^ (key >> 30)) * 0xbf58476d1ce4e5b9;
    key = (key ^ (key >> 27)) * 0x94d049bb133111eb;
    return key ^ (key >> 31);
}

}  // namespace

std::optional<std::uint64_t> next_completing_key(const admitted_set& set, const histogram_family& family) {
    // The keys are there from the first to the last, so ten lookups find the end.
    std::uint64_t first = 1;
    for (std::uint64_t end = completing_series_max + 1; first < end;) {
        const std::uint64_t middle = first + (end - first) / 2;
        if (set.contains(completing_key(family.fingerprint, middle)))
            first = middle + 1;
        else
            end = middle;
    }
    if (first > completing_series_max) return std::nullopt;
    return completing_key(family.fingerprint, first);
}

}  // namespace seriesgate
