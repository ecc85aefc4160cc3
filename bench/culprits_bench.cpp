// What it costs to know whose the new and the refused series are: the same requests with and without noting. All series
// are new; what a request of known series costs is core_bench's. `per_series` is the figure to read.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cardinality/cardinality_tracker.hpp"
#include "ingest/series_sampler.hpp"
#include "limit/limiter.hpp"
#include "made_up.hpp"
#include "plan/planner.hpp"
#include "recorded.hpp"

using namespace seriesgate;
using namespace seriesgate::bench;

namespace {

/// The recorded requests, with other series each round: targets that were never there before.
class new_targets {
    std::vector<std::string> bodies_ = recorded().decoded;
    std::vector<char*> places_;  // of a part of the targets' names
    std::size_t next_ = 0;
    unsigned round_ = 0;

  public:
    new_targets() {
        constexpr std::string_view part = "eu-west";
        for (std::string& each : bodies_)
            for (std::size_t at = each.find(part); at != std::string::npos; at = each.find(part, at + 1))
                places_.push_back(each.data() + at);
    }
    const std::string& next() {
        if (next_ % bodies_.size() == 0) rename();
        return bodies_[next_++ % bodies_.size()];
    }

  private:
    void rename() {
        char name[8];
        std::snprintf(name, sizeof name, "%07u", ++round_);
        for (char* const each : places_) std::copy(name, name + 7, each);
    }
};

/// So many series in one hour.
void run(benchmark::State& state, std::uint64_t series_max) {
    const auto series = static_cast<std::uint64_t>(state.range(0));
    const bool is_noted = state.range(1) != 0;
    const std::vector<std::string> labels{"job", "namespace", "instance"};
    const request_sender sender{.address = "10.0.0.3", .agent = "Prometheus/3.5.0"};
    new_targets requests;
    planner plan_request{hash_key::known_to_all()};
    for (auto _ : state) {
        state.PauseTiming();
        auto limiter = std::make_unique<series_limiter>(limit_rules{.global = {.hourly = series_max}}, noon);
        auto tracker = std::make_unique<cardinality_tracker>(labels, hash_key::known_to_all(), noon);
        refused_ring ring;
        series_sampler sampler{*tracker, ring, *limiter};
        state.ResumeTiming();
        for (std::uint64_t sent = 0; sent < series; sent += batch) {
            const std::string& body = requests.next();
            const auto made = plan_request(body, *limiter, noon);
            if (is_noted) sampler.take(*made, plan_request, body, protocol::v1, sender, noon);
            benchmark::DoNotOptimize(body_action{made->forward});
            state.PauseTiming();
            limiter->maintain(noon);
            sampler.catch_up();
            state.ResumeTiming();
        }
        state.PauseTiming();
        limiter.reset();
        tracker.reset();
        state.ResumeTiming();
    }
    report_series(state, series);
}

void admitted(benchmark::State& state) {
    run(state, 0);
}
void refused(benchmark::State& state) {
    run(state, 1);
}
BENCHMARK(admitted)->ArgNames({"series", "noted"})->ArgsProduct({{20'000, 100'000, 1'000'000}, {0, 1}});
BENCHMARK(refused)->ArgNames({"series", "noted"})->ArgsProduct({{20'000, 100'000, 1'000'000}, {0, 1}});

}  // namespace
