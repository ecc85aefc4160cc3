// Saving and loading the limiter's state, in the working directory, and what requests notice of a save.
#include <benchmark/benchmark.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "latencies.hpp"
#include "limit/figures.hpp"
#include "limit/limiter.hpp"
#include "made_up.hpp"
#include "process/state_file.hpp"
#include "recorded.hpp"

using namespace seriesgate;
using namespace seriesgate::bench;

namespace {

/// Knows series 0 to n - 1 in its second hour, so in one segment each for the hour and the day.
std::unique_ptr<series_limiter> filled(std::uint64_t n) {
    auto limiter = std::make_unique<series_limiter>(limit_rules{.incumbent_grace = std::chrono::seconds{0}}, noon);
    made_up_request request;
    for (std::uint64_t first = 0; first < n; first += batch) {
        request.fill([first](std::uint64_t i) { return first + i; });
        request.decide(*limiter, noon);
        limiter->maintain(noon);
    }
    return limiter;
}

std::filesystem::path directory() {
    return std::filesystem::current_path() / "state_bench.d";
}

void save(benchmark::State& state) {
    const auto limiter = filled(static_cast<std::uint64_t>(state.range(0)));
    const state_directory held{directory()};
    const state_file snapshots{held, {.ignored_labels = 1, .secret = 1}};
    for (auto _ : state) {
        const auto saved = snapshots.save(*limiter);
        if (saved.result != state_file::save_result::saved) state.SkipWithError(saved.reason.c_str());
        state.counters["MB"] = static_cast<double>(saved.bytes) / 1e6;
    }
}
BENCHMARK(save)->Arg(1'000'000)->Arg(10'000'000)->Arg(100'000'000)->Unit(benchmark::kMillisecond)->UseRealTime();

/// From the start of the process to ready, as far as the state is concerned: the file is in the page cache.
void load(benchmark::State& state) {
    const state_directory held{directory()};
    const state_file snapshots{held, {.ignored_labels = 1, .secret = 1}};
    if (!snapshots.save(*filled(static_cast<std::uint64_t>(state.range(0)))).reason.empty()) return;
    for (auto _ : state) {
        series_limiter limiter{{}, noon};
        const auto loaded = snapshots.load(limiter, noon);
        if (loaded.result != state_file::load_result::loaded) state.SkipWithError(loaded.reason.c_str());
        state.PauseTiming();
        state.counters["series"] = static_cast<double>(figures_of(limiter).hourly.series_current);
        state.ResumeTiming();
    }
    std::filesystem::remove_all(directory());
}
BENCHMARK(load)->Arg(1'000'000)->Arg(10'000'000)->Arg(100'000'000)->Unit(benchmark::kMillisecond)->UseRealTime();

/// Requests of 2,000 known series with 20 new ones among them, while the state is saved all the time, or is not.
/// Read the percentiles: a save copies filters without the lock that new series take.
void decide_while_saving(benchmark::State& state, bool saving) {
    constexpr std::uint64_t known = 10'000'000;
    const auto limiter = filled(known);
    std::atomic<bool> stop = false;
    std::uint64_t saves = 0;
    std::thread saver;
    if (saving)
        saver = std::thread{[&] {
            const state_directory held{directory()};
            const state_file snapshots{held, {.ignored_labels = 1, .secret = 1}};
            for (; !stop; ++saves) snapshots.save(*limiter);
        }};
    made_up_request request;
    std::vector<double> micros;
    std::uint64_t first = 0;
    std::uint64_t fresh = std::uint64_t{1} << 40;
    for (auto _ : state) {
        request.fill([&](std::uint64_t i) { return i % 100 == 0 ? fresh++ : first + i; });
        first = (first + batch) % known;
        micros.push_back(micros_of([&] { request.decide(*limiter, noon); }));
        if (micros.size() % 100 == 0) limiter->maintain(noon);
    }
    stop = true;
    if (saver.joinable()) saver.join();
    std::filesystem::remove_all(directory());
    report_percentiles(state, std::move(micros));
    state.counters["saves"] = static_cast<double>(saves);
}
BENCHMARK_CAPTURE(decide_while_saving, no, false)->Iterations(30'000);
BENCHMARK_CAPTURE(decide_while_saving, yes, true)->Iterations(30'000);

}  // namespace
