// What ten thousand label groups and a thousand tenants cost: nothing on the hot path, little memory, and the
// evaluation of selectors for a series that is new. Read each pair of figures side by side: `none` and `many`.
#include <benchmark/benchmark.h>
#include <malloc.h>
#include <unistd.h>

#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "limit/figures.hpp"
#include "limit/limiter.hpp"
#include "made_up.hpp"
#include "recorded.hpp"

using namespace seriesgate;
using namespace seriesgate::bench;

namespace {

constexpr std::uint64_t series_count = 10'000'000;
constexpr std::uint64_t group_count = 10'000;
constexpr std::uint64_t tenant_count = 1'000;

limit_rules with_budgets() {
    limit_rules settings{.global = {.hourly = 2 * series_count, .daily = 2 * series_count}};
    settings.tenants.fallback = {.hourly = series_count, .daily = series_count};
    label_limit per_namespace;
    per_namespace.name = "per-namespace";
    per_namespace.match = *parse_selector(R"({namespace=~".+"})");
    per_namespace.each = {"namespace"};
    per_namespace.groups_max = group_count;
    per_namespace.maxima = {.hourly = series_count, .daily = series_count};
    settings.limits.push_back(std::move(per_namespace));
    return settings;
}

/// Requests of series of two namespaces.
class requests : label_source {
    made_up_request request_;
    std::string namespaces_[2];
    std::vector<label_view> labels_[2];

  public:
    /// The `index`-th: the same series, tenant and namespace each time.
    void offer(std::uint64_t index, series_limiter& to, time_point now) {
        const std::string tenant = "team-" + std::to_string(index % tenant_count);
        for (std::uint64_t i : {0u, 1u}) {
            namespaces_[i] = "namespace-" + std::to_string((2 * index + i) % group_count);
            labels_[i] = {{"__name__", "http_requests_total"},
                          {"job", "api"},
                          {"namespace", namespaces_[i]},
                          {"pod", "api-7f9c"}};
        }
        request_.fill([index](std::uint64_t i) { return index * batch + i; });
        request_.decide(to, now, {.tenant = tenant, .labels = this});
    }

  private:
    std::span<const label_view> labels(std::size_t entry) override { return labels_[entry % 2]; }
    histogram_family family(std::size_t, std::span<const label_view>) override { return {}; }
};

std::size_t resident_bytes() {
    std::size_t all = 0;
    std::size_t resident = 0;
    std::ifstream{"/proc/self/statm"} >> all >> resident;
    return resident * static_cast<std::size_t>(::getpagesize());
}

/// A limiter in its second hour that knows `series_count` series, in every group and tenant that there is.
struct populated {
    std::unique_ptr<series_limiter> limiter;
    requests all;
    time_point now = noon;
    double mebibytes = 0;

    explicit populated(const limit_rules& settings) {
        const std::size_t before = resident_bytes();
        limiter = std::make_unique<series_limiter>(settings, now);
        admit_all();
        limiter->maintain(now = noon + std::chrono::minutes{59} + std::chrono::seconds{59});
        limiter->maintain(now = noon + std::chrono::hours{1});
        admit_all();
        ::malloc_trim(0);
        mebibytes = static_cast<double>(resident_bytes() - before) / (1 << 20);
    }
    void offer(std::uint64_t index) { all.offer(index, *limiter, now); }

  private:
    void admit_all() {
        for (std::uint64_t index = 0; index < series_count / batch; ++index) {
            offer(index);
            limiter->maintain(now);
        }
    }
};

populated& gate_with(bool many) {
    static std::unique_ptr<populated> gates[2];
    auto& gate = gates[many ? 1 : 0];
    if (!gate) gate = std::make_unique<populated>(many ? with_budgets() : limit_rules{});
    return *gate;
}

void known_series(benchmark::State& state, bool many) {
    populated& gate = gate_with(many);
    std::uint64_t index = 0;
    for (auto _ : state) gate.offer(index++ % (series_count / batch));
    report_series(state, batch);
    state.counters["MiB"] = gate.mebibytes;
    state.counters["budgets"] = static_cast<double>(figures_of(*gate.limiter).limits.size());
}
BENCHMARK_CAPTURE(known_series, none, false);
BENCHMARK_CAPTURE(known_series, many, true);

/// Refused once, and again and again: the cache answers, whatever the limits are.
void refused_series(benchmark::State& state, bool many) {
    limit_rules settings = many ? with_budgets() : limit_rules{};
    if (many) {
        settings.limits.front().maxima = {.hourly = 1, .daily = 1};
    } else {
        settings.global.hourly = 1;
    }
    series_limiter limiter{settings, noon};
    requests all;
    for (std::uint64_t index = 0; index < 100; ++index) all.offer(index % 50, limiter, noon);
    std::uint64_t index = 0;
    for (auto _ : state) all.offer(index++ % 50, limiter, noon);
    report_series(state, batch);
}
BENCHMARK_CAPTURE(refused_series, none, false);
BENCHMARK_CAPTURE(refused_series, many, true);

/// New series, each of which finds room: here the limits cost what they cost.
void new_series(benchmark::State& state, bool many) {
    auto limiter = std::make_unique<series_limiter>(many ? with_budgets() : limit_rules{}, noon);
    requests all;
    std::uint64_t index = 0;
    for (auto _ : state) {
        all.offer(index++, *limiter, noon);
        if (index % 40 == 0) {
            state.PauseTiming();
            limiter->maintain(noon);
            state.ResumeTiming();
        }
    }
    report_series(state, batch);
}
BENCHMARK_CAPTURE(new_series, none, false);
BENCHMARK_CAPTURE(new_series, many, true);

/// What /stats and /metrics cost.
void figures(benchmark::State& state) {
    populated& gate = gate_with(true);
    for (auto _ : state) benchmark::DoNotOptimize(figures_of(*gate.limiter));
}
BENCHMARK(figures)->Unit(benchmark::kMicrosecond);

}  // namespace
