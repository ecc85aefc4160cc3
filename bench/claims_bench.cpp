// What claims cost the store that a fleet shares: the CPU of a real redis-server a series, and its memory.
//
// 128 series a claim, hour and day, three budgets a series (the whole, one of 10 tenants, one of some groups), 20
// combinations of them a claim. The time is the server's own, user and system, from INFO.
#include <benchmark/benchmark.h>

#include <chrono>
#include <deque>
#include <stdexcept>
#include <string>
#include <utility>

#include "fleet/claim_store.hpp"
#include "support/fingerprints.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;

namespace {

constexpr std::uint64_t prepared = 1'024'000;  // series that are there before anything is measured
constexpr std::uint64_t measured = 409'600;
constexpr std::uint64_t windows_for = 1'500'000;  // series
constexpr std::size_t pipelined = 8;
constexpr std::uint64_t tenants = 10;
constexpr std::int64_t hour_number = 1'139'580;  // noon, 2100-01-01

/// A store and its only gate.
class bench_store {
    claim_store store_;
    claim_terms terms_{.hour = hour_number - 1, .rules = 1, .grace = 600, .with_day = true};
    std::deque<claim> under_way_;

  public:
    /// @param series that its windows are made for.
    explicit bench_store(std::uint64_t series) {
        terms_.room = terms_.day_room = series;
        open_next_hour();
    }

    /// Learns how many buckets it has.
    void open_next_hour() {
        ++terms_.hour;
        terms_.buckets = {};
        const time_point begin{std::chrono::hours{terms_.hour}};
        terms_.buckets = store_.decide({}, terms_, begin).windows.buckets;
        if (store_.decide({}, terms_, begin).status != claim_status::decided) throw std::runtime_error{"no window"};
    }

    /// As many claims are under way at once as gates of a busy fleet have.
    claim_answer send(claim asked) {
        store_.send(asked, terms_);
        under_way_.push_back(std::move(asked));
        return under_way_.size() < pipelined ? claim_answer{} : receive();
    }
    [[nodiscard]] bool idle() const { return under_way_.empty(); }
    claim_answer receive() {
        const claim asked = std::move(under_way_.front());
        under_way_.pop_front();
        claim_answer answer = store_.receive(asked);
        if (answer.status != claim_status::decided) throw std::runtime_error{"a claim that is not decided"};
        return answer;
    }

    double cpu_seconds() { return figure("cpu", "used_cpu_user:") + figure("cpu", "used_cpu_sys:"); }
    double script_seconds() { return figure("commandstats", "cmdstat_evalsha:calls=", "usec=") / 1e6; }
    /// Gives back what the feed of the hour takes.
    void drop_feed() { store_.connection().ask({"DEL", store_.keys().feed(terms_.hour)}); }
    double memory_bytes() { return figure("memory", "used_memory:"); }

  private:
    /// The number behind `name` in a section of INFO, or behind `part` in the same line.
    double figure(const std::string& section, const std::string& name, const std::string& part = "") {
        const std::string info = store_.connection().text({"INFO", section});
        const std::size_t line = info.find(name);
        const std::size_t at = line == info.npos ? line : info.find(part, line + (part.empty() ? name.size() : 0));
        if (at == info.npos) throw std::runtime_error{"no " + name};
        return std::stod(info.substr(at + part.size()));
    }
};

struct mix {
    std::uint64_t combinations = 20;  ///< of budgets, in a claim
    std::uint64_t groups = 100;
    std::uint64_t maximum = 100'000'000;  ///< of the whole
};

/// Series first to first + 127, in runs by their budgets.
claim claim_of(std::uint64_t first, const mix& how, random_numbers& random) {
    claim asked;
    asked.budgets.push_back({.id = 1, .maxima = {.hourly = how.maximum, .daily = how.maximum}});
    for (std::uint64_t i = 0; i < tenants; ++i)
        asked.budgets.push_back(
            {.id = fingerprint_of(1'000'000'000 + i), .maxima = {.hourly = 50'000'000, .daily = 50'000'000}});
    for (std::uint64_t r = 0; r < how.combinations; ++r) {
        const std::uint64_t group = random.below(how.groups);
        const std::uint64_t id = fingerprint_of(2'000'000'000 + group);
        std::size_t place = 1 + tenants;
        while (place < asked.budgets.size() && asked.budgets[place].id != id) ++place;
        if (place == asked.budgets.size())
            asked.budgets.push_back({.id = id,
                                     .maxima = {.hourly = 10'000'000, .daily = 10'000'000},
                                     .limit_budgets = 7,
                                     .places_max = 20'000,
                                     .overflow_id = 3,
                                     .overflow_maxima = {.hourly = 10'000'000, .daily = 10'000'000}});
        const std::uint64_t from = r * claimed_series_max / how.combinations;
        const std::uint64_t to = (r + 1) * claimed_series_max / how.combinations;
        asked.runs.push_back(
            {.series = static_cast<std::uint32_t>(to - from),
             .budgets = {0, static_cast<std::uint8_t>(1 + group % tenants), static_cast<std::uint8_t>(place)}});
    }
    for (std::uint64_t i = 0; i < claimed_series_max; ++i) asked.fingerprints.push_back(fingerprint_of(first + i));
    return asked;
}

/// @return how many of them were taken.
std::uint64_t claim_all(bench_store& store, std::uint64_t first, std::uint64_t count, const mix& how) {
    random_numbers random{first};
    std::uint64_t taken = 0;
    const auto add = [&](const claim_answer& answer) {
        for (const series_answer& is : answer.series) taken += is.outcome == claim_outcome::taken ? 1 : 0;
    };
    for (std::uint64_t i = 0; i < count; i += claimed_series_max) add(store.send(claim_of(first + i, how, random)));
    while (!store.idle()) add(store.receive());
    return taken;
}

void measure(benchmark::State& state, bench_store& store, std::uint64_t first, const mix& how, std::uint64_t new_ones) {
    for (auto _ : state) {
        const double cpu = store.cpu_seconds(), script = store.script_seconds();
        if (claim_all(store, first, measured, how) != new_ones) state.SkipWithError("not answered as meant");
        const double seconds = store.cpu_seconds() - cpu;
        constexpr double series = measured;
        state.SetIterationTime(seconds);
        state.counters["us_a_series"] = seconds * 1e6 / series;
        state.counters["us_in_script"] = (store.script_seconds() - script) * 1e6 / series;
        state.counters["series_a_s"] = series / seconds;
    }
}

/// In the middle of an hour: windows that have been made for as many as in the last, of which two thirds are there.
void new_series(benchmark::State& state) {
    bench_store store{windows_for};
    claim_all(store, 0, prepared, {});
    measure(state, store, prepared, {}, measured);
}

/// Another gate has asked before.
void known_series(benchmark::State& state) {
    bench_store store{windows_for};
    claim_all(store, 0, prepared, {});
    measure(state, store, 0, {}, 0);
}

/// All that were there in the hour before come back: to the hour; they are in the day.
void in_the_grace(benchmark::State& state) {
    bench_store store{windows_for};
    claim_all(store, 0, prepared, {});
    store.open_next_hour();
    measure(state, store, 0, {}, measured);
}

/// Series that are not in the day either.
void new_in_the_grace(benchmark::State& state) {
    bench_store store{windows_for};
    claim_all(store, 0, prepared, {});
    store.open_next_hour();
    measure(state, store, prepared, {}, measured);
}

/// Each series of a claim has another budget.
void ten_thousand_groups(benchmark::State& state) {
    bench_store store{windows_for};
    const mix how{.combinations = 128, .groups = 10'000};
    claim_all(store, 0, prepared, how);
    measure(state, store, prepared, how, measured);
}

void spent(benchmark::State& state) {
    bench_store store{windows_for};
    const mix how{.maximum = prepared};
    claim_all(store, 0, prepared, how);
    measure(state, store, prepared, how, 0);
}

/// Of the hour and of the day.
void memory(benchmark::State& state) {
    bench_store store{windows_for};
    const double empty = store.memory_bytes();
    for (auto _ : state) {
        claim_all(store, 0, prepared, {});
        state.SetIterationTime(1);
        const double with_feed = store.memory_bytes();
        store.drop_feed();
        state.counters["feed_bytes_a_series"] = (with_feed - store.memory_bytes()) / static_cast<double>(prepared);
        state.counters["bytes_a_series_and_window"] =
            (store.memory_bytes() - empty) / 2 / static_cast<double>(prepared);
    }
}

BENCHMARK(new_series)->UseManualTime()->Iterations(1)->Unit(benchmark::kMillisecond);
BENCHMARK(known_series)->UseManualTime()->Iterations(1)->Unit(benchmark::kMillisecond);
BENCHMARK(in_the_grace)->UseManualTime()->Iterations(1)->Unit(benchmark::kMillisecond);
BENCHMARK(new_in_the_grace)->UseManualTime()->Iterations(1)->Unit(benchmark::kMillisecond);
BENCHMARK(ten_thousand_groups)->UseManualTime()->Iterations(1)->Unit(benchmark::kMillisecond);
BENCHMARK(spent)->UseManualTime()->Iterations(1)->Unit(benchmark::kMillisecond);
BENCHMARK(memory)->UseManualTime()->Iterations(1)->Unit(benchmark::kMillisecond);

}  // namespace
