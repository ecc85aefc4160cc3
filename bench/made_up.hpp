/// Made-up series, for sizes that the recorded requests do not reach.
#pragma once

#include <benchmark/benchmark.h>

#include <cstdint>
#include <vector>

#include "limit/limiter.hpp"

namespace seriesgate::bench {

inline constexpr std::uint64_t batch = 2'000;  // series in a request

/// Different for every index, and spread like a hash (the finaliser of splitmix64).
inline std::uint64_t fingerprint_of(std::uint64_t index) {
    std::uint64_t z = (index + 1) * 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

/// A request of `batch` series, and room for what is decided about it.
struct made_up_request {
    std::vector<offered_series> offered{batch};
    std::vector<verdict> verdicts{batch};
    lookup_result scratch;

    /// @param number_of gives the n-th series' number.
    template <class NumberOf>
    void fill(NumberOf number_of) {
        for (std::uint64_t i = 0; i < batch; ++i)
            offered[i] = {.fingerprint = fingerprint_of(number_of(i)), .samples = 1, .admits = true};
    }
    void decide(series_limiter& by, time_point now, const request_origin& origin = {}) {
        by.decide(offered, now, verdicts, scratch, origin);
    }
};

inline void report_series(benchmark::State& state, std::uint64_t series) {
    using benchmark::Counter;
    state.counters["per_series"] =
        Counter(static_cast<double>(series), Counter::kIsIterationInvariantRate | Counter::kInvert);
}

}  // namespace seriesgate::bench
