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
#include <string>
#include <utility>
#include <vector>

#include "fleet/counting_gate.hpp"
#include "fleet/download.hpp"
#include "fleet/joined_gate.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;

namespace {

using namespace std::chrono_literals;

constexpr std::int64_t hour = 1'139'580;  // noon, 2100-01-01
constexpr std::uint64_t room = 100'000'000;
const time_point now{std::chrono::hours{hour} + 31min};

struct starting_gate : joined_gate {
    redis_client client{io, settings.store, shared.store};
    download under_test{shared, client};

    explicit starting_gate(const open_windows& heard) : joined_gate{{.global = {.hourly = room}}, now, heard} {
        net::co_spawn(io, read(), net::detached);
    }
    [[nodiscard]] bool has_ended() const { return metrics.downloads.total() != 0; }
    [[nodiscard]] bool is_complete() const { return metrics.downloads[download_result::complete].value() != 0; }

  private:
    net::awaitable<void> read() {
        std::vector<std::string> words{"PING"};
        static_cast<void>(co_await client.call(std::move(words), 5s));
        static_cast<void>(co_await under_test.read(limiter, client.connection_epoch()));
    }
};

/// Of this thread.
double cpu_seconds() {
    timespec used{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) * 1e-9;
}

void restart(benchmark::State& state) {
    const auto count = static_cast<std::uint64_t>(state.range(0));
    counting_gate others{{.gate = "other", .run = 1, .hour = hour - 1, .limits = {1}, .room = count}};
    others.take(0, count, 5, room);
    others.enter(hour);
    others.take(0, count, 5, room);
    for (auto _ : state) {
        starting_gate gate{others.windows()};
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
        state.counters["claimed_share"] =
            static_cast<double>(count - gate.known(0, count)) / static_cast<double>(count);
        if (!gate.is_complete()) state.SkipWithError("not all has been read");
    }
}

BENCHMARK(restart)->Arg(1'000'000)->Arg(10'000'000)->UseManualTime()->Iterations(1)->Unit(benchmark::kMillisecond);

}  // namespace
