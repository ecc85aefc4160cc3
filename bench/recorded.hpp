/// The recorded requests of tests/data, as benchmarks want them.
#pragma once

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

#include "limit/window.hpp"
#include "wire/snappy_block.hpp"

namespace seriesgate::bench {

inline constexpr time_point noon = std::chrono::sys_days{std::chrono::year{2026} / 3 / 10} + std::chrono::hours{12};

/// 16 requests of 2,000 samples each, 31,817 series in all; 286 decoded bytes a sample in v1, 64 in v2.
struct recorded_requests {
    std::vector<std::string> compressed;
    std::vector<std::string> decoded;
    std::uint64_t samples = 32'000;
    std::uint64_t decoded_bytes = 0;

    explicit recorded_requests(const std::string& name) {
        std::vector<std::filesystem::path> files;
        const std::filesystem::directory_iterator folder{SERIESGATE_SOURCE_DIR "/tests/data/" + name};
        for (const auto& file : folder) files.push_back(file.path());
        std::ranges::sort(files);
        decode_buffer buffer;
        for (const auto& path : files) {
            std::ifstream file{path, std::ios::binary};
            compressed.emplace_back(std::istreambuf_iterator<char>{file}, std::istreambuf_iterator<char>{});
            const auto body = snappy_decode(compressed.back(), decoded_bytes_limit, buffer);
            if (!body) throw std::runtime_error{"cannot decode " + path.string()};
            decoded.emplace_back(*body);
            decoded_bytes += body->size();
        }
    }
};

inline const recorded_requests& recorded() {
    static const recorded_requests requests{"prometheus-3.5-v1"};
    return requests;
}

/// The same series in remote write 2.
inline const recorded_requests& recorded_v2() {
    static const recorded_requests requests{"prometheus-3.5-v2"};
    return requests;
}

/// Reports the time a sample, and items as samples.
/// @param samples that one iteration went through.
inline void report_samples(benchmark::State& state, std::uint64_t samples) {
    using benchmark::Counter;
    state.counters["per_sample"] =
        Counter(static_cast<double>(samples), Counter::kIsIterationInvariantRate | Counter::kInvert);
}

}  // namespace seriesgate::bench
