/// How long each of many calls took, for benchmarks whose figures are percentiles and not means.
#pragma once

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <vector>

namespace seriesgate::bench {

template <class Work>
double micros_of(Work work) {
    const auto start = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count();
}

inline void report_percentiles(benchmark::State& state, std::vector<double> micros) {
    std::ranges::sort(micros);
    const auto percentile = [&](double share) {
        return micros[static_cast<std::size_t>(share * static_cast<double>(micros.size() - 1))];
    };
    state.counters["p50_us"] = percentile(0.5);
    state.counters["p99_us"] = percentile(0.99);
    state.counters["p99.9_us"] = percentile(0.999);
    state.counters["max_us"] = micros.back();
}

}  // namespace seriesgate::bench
