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

#include "limit/figures.hpp"
#include "limit/limiter.hpp"
#include "limit/window.hpp"
#include "plan/planner.hpp"
#include "support/source_tree.hpp"
#include "wire/decompression.hpp"
#include "wire/splice.hpp"

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
        const std::filesystem::directory_iterator folder{testing::source_tree() / "tests/data" / name};
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

/// A planner as a gate's workers have it: all share what is known of labels.
struct worker_planner : planner {
    worker_planner() : planner{hash_key::known_to_all(), {}, symbol_bytes_per_request_max, &known()} {}

  private:
    static label_hash_cache& known() {
        static label_hash_cache labels;
        return labels;
    }
};

/// Which series of a request are known, by their place in it.
using place_filter = bool (*)(int place);

inline bool every_second(int place) {
    return place % 2 == 0;
}
/// An explosion among the series of one target.
inline bool all_but_twenty(int place) {
    return place < 1'000 || place >= 1'020;
}

/// A limiter to which some series of each request are known, and for whose others there is no room.
class partly_known {
    std::vector<std::string> known_;
    planner plan_request_{hash_key::known_to_all()};

  public:
    series_limiter limiter;

    explicit partly_known(const recorded_requests& requests, protocol version = protocol::v1,
                          place_filter is_known = every_second)
        : known_(known_of(requests, version, is_known)), limiter{{.global = {.hourly = count(version)}}, noon} {
        offer_known(limiter, version);
    }

  private:
    template <class Reader>
    static std::string known_of(bytes_view body, place_filter is_known) {
        std::vector<byte_range> removed;
        Reader reader{body};
        for (int i = 0; reader.next(); ++i)
            if (!is_known(i)) removed.push_back(reader.series().record);
        std::string left;
        splice(body, removed, left);
        return left;
    }
    static std::vector<std::string> known_of(const recorded_requests& requests, protocol version,
                                             place_filter is_known) {
        std::vector<std::string> all;
        for (const auto& body : requests.decoded)
            all.push_back(version == protocol::v2 ? known_of<write_request_v2_reader>(body, is_known)
                                                  : known_of<write_request_reader>(body, is_known));
        return all;
    }
    void offer_known(series_limiter& to, protocol version) {
        for (const auto& body : known_) (void)plan_request_(body, to, noon, {}, version);
    }
    std::uint64_t count(protocol version) {
        series_limiter unlimited{{}, noon};
        offer_known(unlimited, version);
        return figures_of(unlimited).hourly.series_current;
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
