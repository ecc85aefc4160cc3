/// Fingerprints for tests: as many different ones as wanted, the same in every run.
#pragma once

#include <cstdint>

namespace seriesgate::testing {

/// The fingerprint of series number `index`. A bijection (the finaliser of splitmix64), so different numbers never
/// meet, and every bit depends on every bit, as in the hash it stands for.
/// Source: Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014.
constexpr std::uint64_t fingerprint_of(std::uint64_t index) noexcept {
    std::uint64_t z = (index + 1) * 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

/// A small generator with a seed, the same on every standard library.
class random_numbers {
    std::uint64_t state_;

  public:
    explicit random_numbers(std::uint64_t seed) noexcept : state_(fingerprint_of(seed)) {}

    std::uint64_t operator()() noexcept { return fingerprint_of(state_++); }
    /// Uniform in [0, bound); the bias is below bound / 2^64.
    std::uint64_t below(std::uint64_t bound) noexcept { return (*this)() % bound; }
    bool one_in(std::uint64_t n) noexcept { return below(n) == 0; }
};

}  // namespace seriesgate::testing
