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

#include "gate/plan.hpp"
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

/// An admission to which every second series of each request is known, and for whose others there is no room.
class half_known {
    std::vector<std::string> known_;
    planner plan_request_;

  public:
    admission limits;

    explicit half_known(const recorded_requests& requests, protocol version = protocol::v1)
        : known_(every_second(requests, version)), limits{{.series_hourly_max = count(version)}, noon} {
        offer_known(limits, version);
    }

  private:
    template <class Reader>
    static std::string every_second(bytes_view body) {
        std::vector<byte_range> removed;
        Reader reader{body};
        for (int i = 0; reader.next(); ++i)
            if (i % 2 != 0) removed.push_back(reader.series().record);
        std::string left;
        splice(body, removed, left);
        return left;
    }
    static std::vector<std::string> every_second(const recorded_requests& requests, protocol version) {
        std::vector<std::string> all;
        for (const auto& body : requests.decoded)
            all.push_back(version == protocol::v2 ? every_second<write_request_v2_reader>(body)
                                                  : every_second<write_request_reader>(body));
        return all;
    }
    void offer_known(admission& to, protocol version) {
        for (const auto& body : known_) (void)plan_request_(body, to, noon, {}, version);
    }
    std::uint64_t count(protocol version) {
        admission unlimited{{}, noon};
        offer_known(unlimited, version);
        return unlimited.figures().hourly.series_current;
    }
};

/// Reports the time a sample, and items as samples.
/// @param samples that one iteration went through.
inline void report_samples(benchmark::State& state, std::uint64_t samples) {
    using benchmark::Counter;
    state.counters["per_sample"] =
        Counter(static_cast<double>(samples), Counter::kIsIterationInvariantRate | Counter::kInvert);
}

}  // namespace seriesgate::bench
