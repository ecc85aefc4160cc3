#include "limit/set_keys.hpp"

namespace seriesgate {

namespace {

/// Source: Steele, Lea, Flood, "Fast Splittable Pseudorandom Number Generators", 2014 (SplitMix64).
std::uint64_t mixed(std::uint64_t seed, std::uint64_t number) noexcept {
    std::uint64_t key = seed + number * 0x9e3779b97f4a7c15;
    key = (key ^ (key >> 30)) * 0xbf58476d1ce4e5b9;
    key = (key ^ (key >> 27)) * 0x94d049bb133111eb;
    return key ^ (key >> 31);
}

/// More than any histogram has series.
constexpr std::uint64_t beyond_exemption_number = std::uint64_t{1} << 32;

}  // namespace

std::uint64_t completing_key(const histogram_family& family, std::uint64_t number) noexcept {
    return mixed(family.fingerprint, number);
}

std::uint64_t beyond_exemption_key(std::uint64_t fingerprint) noexcept {
    return mixed(fingerprint, beyond_exemption_number);
}

}  // namespace seriesgate
