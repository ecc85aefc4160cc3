/// Made-up series, for sizes that the recorded requests do not reach.
#pragma once

#include <benchmark/benchmark.h>

#include <cstdint>

namespace seriesgate::bench {

inline constexpr std::uint64_t batch = 2'000;  // series in a request

/// Different for every index, and spread like a hash (the finaliser of splitmix64).
inline std::uint64_t fingerprint_of(std::uint64_t index) {
    std::uint64_t z = (index + 1) * 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

inline void report_series(benchmark::State& state, std::uint64_t series) {
    using benchmark::Counter;
    state.counters["per_series"] =
        Counter(static_cast<double>(series), Counter::kIsIterationInvariantRate | Counter::kInvert);
}

}  // namespace seriesgate::bench
