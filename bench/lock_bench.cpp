// How long a request with a new series waits while others hold the commit lock: for a save, figures, the end of an
// hour, a reload, a request of half a million new series. 10,000 label groups and 1,000 tenants, with a full sketch of
// what was refused for each group; with the argument `exact`, of tables, whose series go idle as well. Prints
// microseconds; the machine's own pauses are in them, so `nothing` stands beside.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <functional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "limit/figures.hpp"
#include "limit/limiter.hpp"
#include "made_up.hpp"
#include "recorded.hpp"

using namespace seriesgate;
using namespace seriesgate::bench;
using namespace std::chrono_literals;

namespace {

constexpr std::uint64_t group_count = 10'000;
constexpr std::uint64_t tenant_count = 1'000;
constexpr std::uint64_t refused_each = 1'100;  // beyond what a sketch remembers one by one

limit_rules settings() {
    limit_rules made;
    label_limit per_namespace;
    per_namespace.name = "per-namespace";
    per_namespace.each = {"namespace"};
    per_namespace.groups_max = group_count;
    per_namespace.maxima = {.hourly = 1, .daily = 0};
    made.limits.push_back(std::move(per_namespace));
    return made;
}

/// A request of series of one namespace.
struct request : label_source {
    std::string space;
    std::vector<label_view> shown;
    std::vector<offered_series> offered;
    std::vector<verdict> verdicts;
    lookup_result scratch;

    std::span<const label_view> labels(std::size_t) override { return shown; }
    histogram_family family(std::size_t, std::span<const label_view>) override { return {}; }

    void send(series_limiter& to, std::uint64_t group, std::uint64_t first, std::uint64_t count, time_point now) {
        space = "namespace-" + std::to_string(group);
        shown = {{"namespace", space}};
        offered.resize(count);
        for (std::uint64_t i = 0; i < count; ++i)
            offered[i] = {.fingerprint = bench::fingerprint_of(first + i), .samples = 1, .admits = true};
        verdicts.resize(count);
        const std::string tenant = "team-" + std::to_string(group % tenant_count);
        to.decide(offered, now, verdicts, scratch, {.tenant = tenant, .labels = this});
    }
};

struct null_sink final : state_sink {
    bool write(std::string_view) override { return true; }
};

std::atomic<time_point> now{noon};

/// Threads that want the processors, too: four for each.
class busy_machine {
    std::vector<std::jthread> threads_;

  public:
    busy_machine() {
        for (unsigned i = 0; i < 4 * std::thread::hardware_concurrency(); ++i)
            threads_.emplace_back([](const std::stop_token& stop) {
                while (!stop.stop_requested()) {
                }
            });
    }
};

/// Latencies of single new series while `work` is repeated for a while.
void measure(const char* name, series_limiter& limiter, const std::function<void()>& work) {
    std::vector<double> waits;
    std::atomic<bool> done{false};
    std::thread prober{[&] {
        request one;
        for (std::uint64_t i = 0; !done; ++i) {
            const auto begin = std::chrono::steady_clock::now();
            one.send(limiter, i % group_count, (std::uint64_t{1} << 50) + i, 1, now.load());
            waits.push_back(
                std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count());
        }
    }};
    std::uint64_t rounds = 0;
    double longest = 0;
    const auto end = std::chrono::steady_clock::now() + 3s;
    while (std::chrono::steady_clock::now() < end) {
        const auto begin = std::chrono::steady_clock::now();
        work();
        longest = std::max(longest,
                           std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count());
        ++rounds;
    }
    done = true;
    prober.join();
    std::ranges::sort(waits);
    const auto at = [&](double share) {
        return waits[static_cast<std::size_t>(share * static_cast<double>(waits.size() - 1))];
    };
    std::printf("%-16s p50 %7.1f  p99 %7.1f  p99.9 %7.1f  p99.99 %8.1f  max %8.1f us   (%llu times, up to %.1f ms)\n",
                name, at(0.5), at(0.99), at(0.999), at(0.9999), waits.back(), static_cast<unsigned long long>(rounds),
                longest);
}

}  // namespace

int main(int argc, char** argv) {
    const bool is_table = argc > 1 && std::string_view{argv[1]} == "exact";
    series_limiter limiter{settings(), noon, hash_key::known_to_all(), limit_scope::gate,
                           is_table ? set_kind::exact : set_kind::bloom};
    request filler;
    for (std::uint64_t group = 0; group < group_count; ++group)
        filler.send(limiter, group, group * 2 * refused_each, refused_each, noon);
    limiter.maintain(noon);

    measure("nothing", limiter, [] { std::this_thread::sleep_for(1ms); });
    const auto save = [&] {
        null_sink sink;
        save_snapshot(limiter, sink);
    };
    measure("save", limiter, save);
    {
        const busy_machine others;
        measure("nothing, busy", limiter, [] { std::this_thread::sleep_for(1ms); });
        measure("save, busy", limiter, save);
    }
    measure("figures", limiter, [&] { (void)figures_of(limiter); });
    measure("reload", limiter, [&] { limiter.reconfigure(settings()); });
    std::uint64_t first = std::uint64_t{1} << 55;
    measure("long request", limiter, [&] {
        request giant;
        giant.send(limiter, 0, first, 500'000, now.load());
        first += 500'000;
    });
    if (is_table)
        measure("all go idle", limiter, [&] {
            request some;
            some.send(limiter, 0, first, 200'000, now.load());
            first += 200'000;
            for (int minute = 0; minute < 12; ++minute) {
                now = now.load() + 1min;
                limiter.maintain(now.load());
            }
        });
    measure("an hour's end", limiter, [&] {
        now = now.load() + 1h;
        limiter.maintain(now.load());
    });
    return 0;
}
