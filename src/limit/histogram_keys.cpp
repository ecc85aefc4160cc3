#include "limit/histogram_keys.hpp"

namespace seriesgate {

/// Source: Steele, Lea, Flood, "Fast Splittable Pseudorandom Number Generators", 2014 (SplitMix64).
std::uint64_t completing_key(const histogram_family& family, std::uint64_t number) noexcept {
    std::uint64_t key = family.fingerprint + number * 0x9e3779b97f4a7c15;
    key = (key ^ (key >> 30)) * 0xbf58476d1ce4e5b9;
    key = (key ^ (key >> 27)) * 0x94d049bb133111eb;
    return key ^ (key >> 31);
}

}  // namespace seriesgate
