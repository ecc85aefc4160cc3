// How the limiter grows: a window from nothing to n series, and what requests notice when windows change. At 100 M
// series it takes 1.5 GB of memory and some minutes.
#include <benchmark/benchmark.h>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "latencies.hpp"
#include "limit/figures.hpp"
#include "limit/limiter.hpp"
#include "made_up.hpp"
#include "recorded.hpp"

using namespace seriesgate;
using namespace seriesgate::bench;

namespace {

/// Requests of `batch` series, timed one by one.
class timed_requests {
    series_limiter& limiter_;
    made_up_request request_;
    std::vector<double> micros_;

  public:
    explicit timed_requests(series_limiter& limiter) : limiter_(limiter) {}

    /// @param number_of gives the n-th series' number.
    template <class NumberOf>
    void decide(time_point now, NumberOf number_of) {
        request_.fill(number_of);
        micros_.push_back(micros_of([&] { request_.decide(limiter_, now); }));
    }
    void forget() { micros_.clear(); }

    /// In nanoseconds a series.
    double mean() const {
        double sum = 0;
        for (const double each : micros_) sum += each;
        return sum * 1e3 / static_cast<double>(micros_.size() * batch);
    }
    void report(benchmark::State& state) const { report_percentiles(state, micros_); }
};

/// An hour from nothing to n series, all of them again, as many others that are not known, and the next hour, in which
/// they come back. Times in nanoseconds a series, memory in bytes a series, of the hour's and the day's set together,
/// or of the table.
void window(benchmark::State& state, set_kind kind) {
    const auto n = static_cast<std::uint64_t>(state.range(0));
    for (auto _ : state) {
        series_limiter limiter{limit_rules{.global = {.hourly = n}, .incumbent_grace = std::chrono::seconds{0}}, noon,
                               hash_key::known_to_all(), limit_scope::gate, kind};
        timed_requests requests{limiter};
        time_point now = noon;
        const auto offer_all = [&](std::uint64_t first, std::uint64_t count) {
            requests.forget();
            for (std::uint64_t at = 0; at < count; at += batch) {
                requests.decide(now, [&](std::uint64_t i) { return first + at + i; });
                if (at % (16 * batch) == 0) limiter.maintain(now);
            }
            return requests.mean();
        };
        const auto bytes = [&] {
            const auto figures = figures_of(limiter);
            return static_cast<double>(figures.hourly.filter_bytes + figures.daily.filter_bytes) /
                   static_cast<double>(n);
        };
        const std::uint64_t sample = std::min<std::uint64_t>(n, 10'000'000);
        state.counters["grow_ns"] = offer_all(0, n);
        state.counters["grown_bytes"] = bytes();
        state.counters["known_ns"] = offer_all(0, sample);
        state.counters["refused_ns"] = offer_all(std::uint64_t{1} << 40, sample);

        limiter.maintain(now + std::chrono::minutes{59} + std::chrono::seconds{59});
        now += std::chrono::hours{1};
        state.counters["rotate_us"] = micros_of([&] { limiter.maintain(now); });
        state.counters["return_ns"] = offer_all(0, n);
        state.counters["known_later_ns"] = offer_all(0, sample);
        state.counters["bytes_later"] = bytes();
    }
}
void at_all_sizes(benchmark::internal::Benchmark* of) {
    of->RangeMultiplier(10)->Range(100'000, 100'000'000)->Iterations(1)->Unit(benchmark::kSecond);
}
BENCHMARK_CAPTURE(window, bloom, set_kind::bloom)->Name("window")->Apply(at_all_sizes);
BENCHMARK_CAPTURE(window, exact, set_kind::exact)->Name("window_of_table")->Apply(at_all_sizes);

/// Labels of a batch: 60 metrics of each pod.
class pods final : public label_source {
    std::array<std::string, batch> names_;
    std::array<std::string, batch> pods_;
    std::array<std::array<label_view, 2>, batch> views_;

  public:
    void show(std::uint64_t first) {
        for (std::uint64_t i = 0; i < batch; ++i) {
            names_[i] = fmt::format("metric_{}", (first + i) % 60);
            pods_[i] = fmt::format("pod-{}", (first + i) / 60);
            views_[i] = {label_view{"__name__", names_[i]}, label_view{"pod", pods_[i]}};
        }
    }
    std::span<const label_view> labels(std::size_t entry) override { return views_[entry]; }
    histogram_family family(std::size_t, std::span<const label_view>) override { return {}; }
};

/// A table whose series each have a combination of budgets of their own: `each: [pod]` beside `each: [__name__]`, or,
/// to compare, all have the same one. Memory in bytes a series, times in nanoseconds a series.
void combinations(benchmark::State& state, bool are_many) {
    const auto n = static_cast<std::uint64_t>(state.range(0));
    for (auto _ : state) {
        limit_rules rules;
        for (const char* const label : {"pod", "__name__"}) {
            label_limit each;
            each.name = label;
            if (are_many) each.each = {label};
            each.maxima.active = n;
            each.groups_max = n;
            rules.limits.push_back(each);
        }
        series_limiter limiter{rules, noon, hash_key::known_to_all(), limit_scope::gate, set_kind::exact};
        made_up_request request;
        pods labels;
        const auto offer_all = [&] {
            double micros = 0;
            for (std::uint64_t at = 0; at < n; at += batch) {
                labels.show(at);
                request.fill([at](std::uint64_t i) { return at + i; });
                micros += micros_of([&] { request.decide(limiter, noon, {.tenant = "", .labels = &labels}); });
                if (at % (16 * batch) == 0) limiter.maintain(noon);
            }
            return micros * 1e3 / static_cast<double>(n);
        };
        state.counters["grow_ns"] = offer_all();
        state.counters["known_ns"] = offer_all();
        const auto shown = figures_of(limiter);
        state.counters["table_bytes"] = static_cast<double>(shown.hourly.filter_bytes) / static_cast<double>(n);
        state.counters["combination_bytes"] = static_cast<double>(shown.active->filter_bytes) / static_cast<double>(n);
    }
}
void up_to_ten_million(benchmark::internal::Benchmark* of) {
    of->Arg(1'000'000)->Arg(10'000'000)->Iterations(1)->Unit(benchmark::kSecond);
}
BENCHMARK_CAPTURE(combinations, many, true)->Apply(up_to_ten_million);
BENCHMARK_CAPTURE(combinations, one, false)->Apply(up_to_ten_million);

/// 200 requests a second, 20 of their 2,000 series new, in a window of 50 M series in its second hour; a thread does
/// the maintenance, as in the app. With `rotating` the hour ends after a second: then all series are new, and the new
/// window grows. Read the percentiles.
void decide_while(benchmark::State& state, bool rotating) {
    constexpr std::uint64_t known = 50'000'000;
    constexpr std::uint64_t requests_before = 200;
    series_limiter limiter{limit_rules{}, noon};
    timed_requests requests{limiter};
    const time_point full_hour = noon + std::chrono::hours{1};
    for (const time_point now : {noon, full_hour}) {
        limiter.maintain(now - std::chrono::seconds{1});
        limiter.maintain(now);
        for (std::uint64_t first = 0; first < known; first += batch) {
            requests.decide(now, [&](std::uint64_t i) { return first + i; });
            if (first % (16 * batch) == 0) limiter.maintain(now);
        }
    }
    requests.forget();

    std::atomic<std::int64_t> seconds = 3'540;
    std::atomic<bool> stop = false;
    std::thread maintenance{[&] {
        while (!stop) {
            limiter.maintain(full_hour + std::chrono::seconds{seconds});
            std::this_thread::sleep_for(std::chrono::milliseconds{20});
        }
    }};
    std::uint64_t first = 0;
    std::uint64_t fresh = std::uint64_t{1} << 40;
    std::uint64_t sent = 0;
    auto next = std::chrono::steady_clock::now();
    for (auto _ : state) {
        std::this_thread::sleep_until(next += std::chrono::milliseconds{5});
        if (rotating && ++sent == requests_before) seconds = 3'600;
        requests.decide(full_hour + std::chrono::seconds{seconds},
                        [&](std::uint64_t i) { return i % 100 == 0 ? fresh++ : first + i; });
        first += batch;
    }
    stop = true;
    maintenance.join();
    requests.report(state);
}
BENCHMARK_CAPTURE(decide_while, steady, false)->Iterations(1'000);
BENCHMARK_CAPTURE(decide_while, rotating, true)->Iterations(1'000);

/// The same rhythm with a millisecond of arithmetic in place of each request: what a machine that is shared with others
/// adds by itself, to be read beside the two above.
void decide_nothing(benchmark::State& state) {
    std::uint64_t value = 1;
    const auto compute = [&value](std::uint64_t steps) {
        for (; steps > 0; --steps) value = fingerprint_of(value);
        benchmark::DoNotOptimize(value);
    };
    constexpr std::uint64_t trial = 10'000;
    double fastest = micros_of([&] { compute(trial); });
    for (int i = 0; i < 100; ++i) fastest = std::min(fastest, micros_of([&] { compute(trial); }));
    const auto steps = static_cast<std::uint64_t>(1'000 / fastest * trial);

    std::vector<double> micros;
    auto next = std::chrono::steady_clock::now();
    for (auto _ : state) {
        std::this_thread::sleep_until(next += std::chrono::milliseconds{5});
        micros.push_back(micros_of([&] { compute(steps); }));
    }
    report_percentiles(state, std::move(micros));
}
BENCHMARK(decide_nothing)->Iterations(1'000);

}  // namespace
