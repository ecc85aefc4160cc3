// What a request costs in the core, step by step, on the recorded requests. `per_sample` is the figure to read.
#include <string>

#include "limit/limiter.hpp"
#include "plan/planner.hpp"
#include "recorded.hpp"
#include "wire/splice.hpp"
#include "wire/write_request.hpp"
#include "wire/write_request_v2.hpp"

using namespace seriesgate;
using namespace seriesgate::bench;

namespace {

/// Limits of which so many of the recorded series are admitted.
constexpr std::uint64_t unlimited = 0;
constexpr std::uint64_t one_series = 1;

/// A limiter that has seen the recorded requests already.
struct warm_gate {
    series_limiter limiter;
    worker_planner plan_request;

    explicit warm_gate(std::uint64_t series_max) : limiter{{.global = {.hourly = series_max}}, noon} {
        for (int round = 0; round < 2; ++round)
            for (const auto& body : recorded().decoded) (void)plan_request(body, limiter, noon);
    }
};

void decompress(benchmark::State& state, const recorded_requests& (*requests)()) {
    decode_buffer buffer;
    for (auto _ : state)
        for (const auto& compressed : requests().compressed)
            benchmark::DoNotOptimize(snappy_decode(compressed, decoded_bytes_limit, buffer));
    report_samples(state, requests().samples);
    state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(requests().decoded_bytes));
}
BENCHMARK_CAPTURE(decompress, v1, recorded);
BENCHMARK_CAPTURE(decompress, v2, recorded_v2);

template <class Reader>
void walk_all(benchmark::State& state, const recorded_requests& requests, Reader reader = Reader{}) {
    for (auto _ : state)
        for (const auto& body : requests.decoded) {
            reader.reset(body);
            while (reader.next()) benchmark::DoNotOptimize(std::uint64_t{reader.series().labels_hash});
        }
    report_samples(state, requests.samples);
}

void walk(benchmark::State& state) {
    walk_all<write_request_reader>(state, recorded());
}
BENCHMARK(walk);

/// The same where labels are looked up by their bytes first: in a table that has them all, and in one that has none.
void walk_known(benchmark::State& state, std::size_t bytes_max) {
    label_hash_cache known{bytes_max};
    walk_all(state, recorded(), write_request_reader{label_hasher{hash_key::known_to_all()}, &known});
}
BENCHMARK_CAPTURE(walk_known, found, label_hash_cache::bytes_max);
BENCHMARK_CAPTURE(walk_known, not_found, std::size_t{128});

void walk_v2(benchmark::State& state) {
    walk_all<write_request_v2_reader>(state, recorded_v2());
}
BENCHMARK(walk_v2);

/// Walk, fingerprint, decide and collect, everything known to the gate: admitted, or refused.
void plan_all(benchmark::State& state, series_limiter& limiter) {
    worker_planner plan_request;
    for (auto _ : state)
        for (const auto& body : recorded().decoded) benchmark::DoNotOptimize(plan_request(body, limiter, noon));
    report_samples(state, recorded().samples);
}
void plan_known(benchmark::State& state, std::uint64_t series_max) {
    warm_gate gate{series_max};
    plan_all(state, gate.limiter);
}
void plan_half_refused(benchmark::State& state) {
    partly_known gate{recorded()};
    plan_all(state, gate.limiter);
}
BENCHMARK_CAPTURE(plan_known, accepted, unlimited);
BENCHMARK(plan_half_refused);
BENCHMARK_CAPTURE(plan_known, refused, one_series);

/// The same with every series new: an hour's first requests.
void plan_new(benchmark::State& state) {
    worker_planner plan_request;
    time_point now = noon;
    series_limiter limiter{{.incumbent_grace = std::chrono::seconds{0}}, now};
    for (auto _ : state) {
        state.PauseTiming();
        now += std::chrono::days{2};
        limiter.maintain(now);
        limiter.maintain(now);
        state.ResumeTiming();
        for (const auto& body : recorded().decoded) benchmark::DoNotOptimize(plan_request(body, limiter, now));
    }
    report_samples(state, recorded().samples);
}
BENCHMARK(plan_new);

/// Cutting the refused half out, by the ranges of a plan; per sample received.
void splice_half(benchmark::State& state) {
    partly_known gate{recorded()};
    worker_planner plan_request;
    std::vector<std::vector<byte_range>> removed;
    for (const auto& body : recorded().decoded) {
        const auto made = plan_request(body, gate.limiter, noon);
        removed.emplace_back(made->removed.begin(), made->removed.end());
    }
    std::string out;
    for (auto _ : state)
        for (std::size_t i = 0; i < removed.size(); ++i) {
            splice(recorded().decoded[i], removed[i], out);
            benchmark::DoNotOptimize(out.data());
        }
    report_samples(state, recorded().samples);
}
BENCHMARK(splice_half);

void compress(benchmark::State& state) {
    decode_buffer room;
    std::string out;
    for (auto _ : state)
        for (const auto& body : recorded().decoded) {
            snappy_encode(body, room, out);
            benchmark::DoNotOptimize(out.data());
        }
    report_samples(state, recorded().samples);
    state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(recorded().decoded_bytes));
}
BENCHMARK(compress);

/// All that the core does for a request: compressed bytes in, compressed bytes out.
void core_path_of(benchmark::State& state, series_limiter& limiter) {
    worker_planner plan_request;
    decode_buffer buffer;
    decode_buffer room;
    std::string spliced;
    std::string out;
    for (auto _ : state)
        for (const auto& compressed : recorded().compressed) {
            const auto body = snappy_decode(compressed, decoded_bytes_limit, buffer);
            const auto made = plan_request(*body, limiter, noon);
            if (made->forward == body_action::spliced)
                splice_snappy(compressed, *body, made->removed, spliced, room, out);
            benchmark::DoNotOptimize(out.data());
        }
    report_samples(state, recorded().samples);
}
void core_path(benchmark::State& state, std::uint64_t series_max) {
    warm_gate gate{series_max};
    core_path_of(state, gate.limiter);
}
void core_path_half_refused(benchmark::State& state) {
    partly_known gate{recorded()};
    core_path_of(state, gate.limiter);
}
void core_path_twenty_refused(benchmark::State& state) {
    partly_known gate{recorded(), protocol::v1, all_but_twenty};
    core_path_of(state, gate.limiter);
}
BENCHMARK_CAPTURE(core_path, accepted, unlimited);
BENCHMARK(core_path_half_refused);
BENCHMARK(core_path_twenty_refused);
BENCHMARK_CAPTURE(core_path, refused, one_series);

/// Of remote write 2, everything accepted.
void core_path_v2(benchmark::State& state) {
    series_limiter limiter{{}, noon};
    worker_planner plan_request;
    decode_buffer buffer;
    const auto run = [&] {
        for (const auto& compressed : recorded_v2().compressed) {
            const auto body = snappy_decode(compressed, decoded_bytes_limit, buffer);
            benchmark::DoNotOptimize(plan_request(*body, limiter, noon, {}, protocol::v2));
        }
    };
    run();
    for (auto _ : state) run();
    report_samples(state, recorded_v2().samples);
}
BENCHMARK(core_path_v2);

/// As many series of the recording as asked for, one after the other from the beginning again, as one request.
std::string request_of(std::size_t series_count) {
    std::string body;
    write_request_reader reader;
    for (std::size_t taken = 0; taken < series_count;)
        for (const auto& from : recorded().decoded) {
            reader.reset(from);
            for (; taken < series_count && reader.next(); ++taken) body.append(slice(from, reader.series().record));
        }
    return body;
}

/// How the core path grows with the request: one sample a series, all known.
void core_path_by_size(benchmark::State& state) {
    const auto series_count = static_cast<std::size_t>(state.range(0));
    warm_gate gate{unlimited};
    decode_buffer buffer;
    decode_buffer room;
    std::string compressed;
    snappy_encode(request_of(series_count), room, compressed);
    for (auto _ : state) {
        const auto body = snappy_decode(compressed, decoded_bytes_limit, buffer);
        benchmark::DoNotOptimize(gate.plan_request(*body, gate.limiter, noon));
    }
    report_samples(state, series_count);
}
BENCHMARK(core_path_by_size)->Arg(1)->Arg(10)->Arg(100)->Arg(2'000)->Arg(10'000)->Arg(50'000);

/// Workers share the limiter and nothing else.
void core_path_by_threads(benchmark::State& state) {
    static warm_gate shared{unlimited};
    worker_planner plan_request;
    decode_buffer buffer;
    for (auto _ : state)
        for (const auto& compressed : recorded().compressed) {
            const auto body = snappy_decode(compressed, decoded_bytes_limit, buffer);
            benchmark::DoNotOptimize(plan_request(*body, shared.limiter, noon));
        }
    // Counters of threads are added up, and time is that of the clock.
    report_samples(state, recorded().samples / static_cast<unsigned>(state.threads()));
}
BENCHMARK(core_path_by_threads)->Threads(1)->Threads(2)->UseRealTime();

}  // namespace
