// Filter and admission alone, at sizes that the recorded requests do not reach. `per_series` is the figure to read.
#include <benchmark/benchmark.h>

#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "filter/admitted_set.hpp"
#include "limit/figures.hpp"
#include "limit/limiter.hpp"
#include "made_up.hpp"
#include "recorded.hpp"

using namespace seriesgate;
using namespace seriesgate::bench;

namespace {

/// A set that holds series 0 to n - 1, made once.
const admitted_set& filled_set(std::uint64_t n) {
    static std::mutex lock;
    static std::map<std::uint64_t, std::unique_ptr<admitted_set>> sets;
    const std::scoped_lock guard{lock};
    auto& set = sets[n];
    if (!set) {
        sets.clear();  // one at a time
        auto made = std::make_unique<admitted_set>(filter_spec{.capacity = n, .false_positive_rate = 1e-4});
        for (std::uint64_t i = 0; i < n; ++i) made->insert(fingerprint_of(i));
        return *(sets[n] = std::move(made));
    }
    return *set;
}

/// Lookups in batches, prefetched as series_limiter::decide does it, all over the set.
void lookups(benchmark::State& state, std::uint64_t first_series) {
    const auto n = static_cast<std::uint64_t>(state.range(0));
    const admitted_set& set = filled_set(n);
    constexpr std::size_t distance = 16;
    std::vector<std::uint64_t> fingerprints(batch + distance);
    std::uint64_t next = static_cast<std::uint64_t>(state.thread_index()) * n / 2;
    std::uint64_t found = 0;
    for (auto _ : state) {
        for (auto& fingerprint : fingerprints) fingerprint = fingerprint_of(first_series + next++ % n);
        for (std::size_t i = 0; i < distance; ++i) set.prefetch(fingerprints[i]);
        for (std::size_t i = 0; i < batch; ++i) {
            set.prefetch(fingerprints[i + distance]);
            found += set.contains(fingerprints[i]) ? 1 : 0;
        }
        benchmark::DoNotOptimize(found);
    }
    report_series(state, batch);
}
void filter_hit(benchmark::State& state) {
    lookups(state, 0);
}
void filter_miss(benchmark::State& state) {
    lookups(state, std::uint64_t{1} << 40);
}
BENCHMARK(filter_hit)->RangeMultiplier(10)->Range(100'000, 100'000'000)->ThreadRange(1, 2);
BENCHMARK(filter_miss)->RangeMultiplier(10)->Range(100'000, 100'000'000)->ThreadRange(1, 2);

void filter_insert(benchmark::State& state) {
    const auto n = static_cast<std::uint64_t>(state.range(0));
    admitted_set set{{.capacity = n, .false_positive_rate = 1e-4}};
    std::uint64_t next = 0;
    for (auto _ : state)
        for (std::uint64_t i = 0; i < batch; ++i) set.insert(fingerprint_of(next++ % n));
    report_series(state, batch);
}
BENCHMARK(filter_insert)->RangeMultiplier(10)->Range(100'000, 10'000'000);

/// What lookups cost when the set has become a chain: the first hour after a start.
void filter_hit_in_chain(benchmark::State& state) {
    admitted_set set{{.capacity = 131'072, .false_positive_rate = 1e-4}};
    const auto n = static_cast<std::uint64_t>(state.range(0));
    for (std::uint64_t i = 0; i < n; ++i) {
        set.insert(fingerprint_of(i));
        if (set.wants_segment()) set.adopt(set.prepare_segment());
    }
    std::uint64_t next = 0;
    std::uint64_t found = 0;
    for (auto _ : state)
        for (std::uint64_t i = 0; i < batch; ++i) {
            set.prefetch(fingerprint_of((next + 16) % n));
            found += set.contains(fingerprint_of(next++ % n)) ? 1 : 0;
        }
    benchmark::DoNotOptimize(found);
    report_series(state, batch);
}
BENCHMARK(filter_hit_in_chain)->RangeMultiplier(10)->Range(100'000, 10'000'000);

/// A limiter in its second hour with series 0 to n - 1 known, its memory sized by the first.
struct warm_admission {
    series_limiter limiter;
    made_up_request request;
    time_point now = noon;

    warm_admission(const limit_rules& settings, std::uint64_t n) : limiter{settings, noon} {
        admit_all(n);
        limiter.maintain(now = noon + std::chrono::minutes{59} + std::chrono::seconds{59});
        now = noon + std::chrono::hours{1};
        admit_all(n);
    }

    void offer(std::uint64_t first) {
        request.fill([first](std::uint64_t i) { return first + i; });
        request.decide(limiter, now);
    }

  private:
    void admit_all(std::uint64_t n) {
        for (std::uint64_t first = 0; first < n; first += batch) {
            offer(first);
            limiter.maintain(now);
        }
    }
};

/// series_limiter::decide for known series; the cost of making the fingerprints is in it (about a nanosecond).
void decide_known(benchmark::State& state) {
    const auto n = static_cast<std::uint64_t>(state.range(0));
    static std::map<std::uint64_t, std::unique_ptr<warm_admission>> gates;  // filled once, not for every repetition
    auto& kept = gates[n];
    if (!kept) kept = std::make_unique<warm_admission>(limit_rules{}, n);
    warm_admission& gate = *kept;
    std::uint64_t first = 0;
    for (auto _ : state) {
        gate.offer(first);
        first = (first + batch) % n;
    }
    report_series(state, batch);
}
BENCHMARK(decide_known)->RangeMultiplier(10)->Range(100'000, 10'000'000);

/// Refused series that the cache remembers, and more than it can, which go through the commit each time.
void decide_refused(benchmark::State& state) {
    const auto n = static_cast<std::uint64_t>(state.range(0));
    warm_admission gate{{.global = {.hourly = 2'000}}, 2'000};
    std::uint64_t first = 0;
    for (std::uint64_t i = 0; i < std::min<std::uint64_t>(2 * n, 1'000'000); i += batch)
        gate.offer(1'000'000'000 + i % n);
    for (auto _ : state) {
        gate.offer(1'000'000'000 + first);
        first = (first + batch) % n;
    }
    report_series(state, batch);
}
BENCHMARK(decide_refused)->Arg(10'000)->Arg(100'000)->Arg(300'000)->Arg(10'000'000);

/// New series, each of which finds room: the commit.
void decide_new(benchmark::State& state) {
    const auto n = static_cast<std::uint64_t>(state.range(0));
    warm_admission gate{{.incumbent_grace = std::chrono::seconds{0}}, n};
    std::uint64_t first = 0;
    for (auto _ : state) {
        if (first % n == 0) {  // the next window, as large as this one
            state.PauseTiming();
            gate.limiter.maintain(gate.now + std::chrono::hours{23} + std::chrono::minutes{59});
            gate.limiter.maintain(gate.now += std::chrono::days{1});
            state.ResumeTiming();
        }
        gate.offer((std::uint64_t{1} << 40) + first);
        first += batch;
    }
    report_series(state, batch);
}
BENCHMARK(decide_new)->Arg(100'000)->Arg(1'000'000);

/// What /stats and /metrics cost, under the commit lock.
void figures(benchmark::State& state) {
    warm_admission gate{{.global = {.hourly = 50'000}}, 100'000};
    for (auto _ : state) benchmark::DoNotOptimize(figures_of(gate.limiter));
}
BENCHMARK(figures);

/// Making the next window's memory: the maintenance thread's work, never a request's.
void make_set(benchmark::State& state) {
    const auto n = static_cast<std::uint64_t>(state.range(0));
    for (auto _ : state) {
        const admitted_set set{{.capacity = n, .false_positive_rate = 1e-4}};
        benchmark::DoNotOptimize(set.size());
    }
}
BENCHMARK(make_set)->RangeMultiplier(10)->Range(100'000, 10'000'000)->Unit(benchmark::kMicrosecond);

}  // namespace
