// What a gate that is restarted into a fleet waits for: from a real redis-server, the series of the hour and of the
// hour before.
//
// As many series in both, in a window that was made for them. The time is the wall clock's, of gate and store on one
// machine; what a restart takes besides is some ten milliseconds.
#include <benchmark/benchmark.h>
#include <time.h>

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <chrono>
#include <cstdint>
#include <deque>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "fleet/claim_store.hpp"
#include "fleet/download.hpp"
#include "limit/limiter.hpp"
#include "limit/limiter_state.hpp"
#include "support/fingerprints.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;

namespace {

using namespace std::chrono_literals;

constexpr std::int64_t hour_number = 1'139'580;  // noon, 2100-01-01
constexpr std::size_t pipelined = 8;
constexpr std::uint64_t room = 100'000'000;

time_point minute(std::int64_t of, std::chrono::minutes in) {
    return time_point{std::chrono::hours{of} + in};
}

/// All gates together have admitted so many series, from number 0 on.
void fill(claim_store& store, std::int64_t hour, std::uint64_t count) {
    claim_terms terms{.hour = hour, .rules = 1, .grace = 600, .room = count};
    terms.buckets = store.decide({}, terms, minute(hour, 30min)).windows.buckets;
    std::deque<claim> under_way;
    const auto receive = [&] {
        const claim_answer answer = store.receive(under_way.front());
        under_way.pop_front();
        if (answer.status != claim_status::decided) throw std::runtime_error{"a claim that is not decided"};
    };
    for (std::uint64_t at = 0; at < count; at += claimed_series_max) {
        claim asked{.fingerprints = {},
                    .runs = {{.series = claimed_series_max, .budgets = {0}}},
                    .budgets = {{.id = 5, .maxima = {.hourly = room}}}};
        for (std::uint64_t i = at; i < at + claimed_series_max; ++i) asked.fingerprints.push_back(fingerprint_of(i));
        store.send(asked, terms);
        under_way.push_back(std::move(asked));
        if (under_way.size() == pipelined) receive();
    }
    while (!under_way.empty()) receive();
}

void say_that_it_is_whole(claim_store& store) {
    const std::string info = store.connection().text({"INFO", "server"}), key = "run_id:";
    const std::size_t begin = info.find(key) + key.size();
    const std::string run_id = info.substr(begin, info.find('\r', begin) - begin);
    store.connection().ask({"HSET", store.keys().head(), "server", run_id});
}

/// A gate that has joined and knows nothing.
struct starting_gate {
    shared_config settings{.url = "unix:", .store = {.unix_path = the_store().socket()}, .name_space = "t"};
    fleet_metrics metrics;
    fleet_shared shared{settings, metrics};
    net::io_context io;
    series_limiter limiter{
        {.global = {.hourly = room}}, minute(hour_number, 31min), hash_key::known_to_all(), limit_scope::fleet};
    download under_test{io, shared};

    starting_gate() {
        shared.clock.hear(minute(hour_number, 31min), std::chrono::steady_clock::now());
        shared.set_state(fleet_state::joined);
        net::co_spawn(io, under_test.run(limiter), net::detached);
    }
    [[nodiscard]] bool has_ended() const { return metrics.downloads.total() != 0; }
    [[nodiscard]] bool is_complete() const { return metrics.downloads[download_result::complete].value() != 0; }
    [[nodiscard]] double unknown(std::uint64_t count) const {
        const auto current = limiter.state().sets.read();
        std::uint64_t found = 0;
        for (std::uint64_t i = 0; i < count; ++i) found += !current->hour->contains(fingerprint_of(i));
        return static_cast<double>(found);
    }
};

/// Of this thread.
double cpu_seconds() {
    timespec used{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) * 1e-9;
}

void restart(benchmark::State& state) {
    const auto count = static_cast<std::uint64_t>(state.range(0)) / claimed_series_max * claimed_series_max;
    claim_store store;
    // Its windows are made for as many as in the last one.
    store.connection().ask({"HSET", store.keys().head(), "hour", std::to_string(hour_number - 2), "buckets", "1",
                            "members", std::to_string(count)});
    fill(store, hour_number - 1, count);
    fill(store, hour_number, count);
    say_that_it_is_whole(store);
    for (auto _ : state) {
        starting_gate gate;
        const auto began = std::chrono::steady_clock::now();
        const double cpu_before = cpu_seconds();
        const auto seconds = [&] {
            return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
        };
        double longest = 0;  // that the thread worked on one thing, and gave no signs of life
        const auto run_once = [&] {
            const double before = cpu_seconds();
            gate.io.run_one();
            longest = std::max(longest, cpu_seconds() - before);
        };
        while (gate.shared.is_catching_up()) run_once();
        state.counters["ready_s"] = seconds();
        while (!gate.has_ended()) run_once();
        state.SetIterationTime(seconds());
        state.counters["longest_ms"] = longest * 1e3;
        state.counters["gate_cpu_s"] = cpu_seconds() - cpu_before;
        state.counters["claimed_share"] = gate.unknown(count) / static_cast<double>(count);
        if (!gate.is_complete()) state.SkipWithError("not all has been read");
    }
}

BENCHMARK(restart)->Arg(1'000'000)->Arg(10'000'000)->UseManualTime()->Iterations(1)->Unit(benchmark::kMillisecond);

}  // namespace
