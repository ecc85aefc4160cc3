// What a new series costs the store of a fleet: the CPU of a real redis-server a series, and its memory.
//
// 128 series a call, hour and day, three budgets a series (the whole, one of 10 tenants, one of 100 groups), 20
// combinations of them a call. The time is the server's own, user and system, from INFO.
#include <benchmark/benchmark.h>

#include <chrono>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "fleet/counting_gate.hpp"
#include "support/fingerprints.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;

namespace {

constexpr std::uint64_t prepared = 512'000;  // series that are there before anything is measured
constexpr std::uint64_t measured = 256'000;
constexpr std::uint64_t windows_for = 800'000;  // series
constexpr std::uint64_t tenants = 10, groups = 100, combinations = 20;
constexpr std::int64_t first_hour = 1'139'580;  // noon, 2100-01-01

/// The number behind `name` in a section of INFO.
double figure(store_connection& connection, const std::string& section, const std::string& name) {
    const std::string info = connection.text({"INFO", section});
    const std::size_t at = info.find(name);
    if (at == info.npos) throw std::runtime_error{"no " + name};
    return std::stod(info.substr(at + name.size()));
}

double cpu_seconds(store_connection& connection) {
    return figure(connection, "cpu", "used_cpu_user:") + figure(connection, "cpu", "used_cpu_sys:");
}

/// Of a group, behind those of the whole and the tenants. @return its place.
std::uint8_t add_budget_of(std::uint64_t group, std::vector<shared_budget>& budgets) {
    const std::uint64_t id = fingerprint_of(2'000'000'000 + group);
    std::size_t place = 1 + tenants;
    while (place < budgets.size() && budgets[place].id != id) ++place;
    if (place == budgets.size())
        budgets.push_back({.id = id,
                           .limit = 3,
                           .maxima = {.hourly = 10'000'000, .daily = 10'000'000},
                           .sharing = 4,
                           .overflow_id = 3,
                           .group_set = 7,
                           .groups_max = 20'000,
                           .overflow_maxima = {.hourly = 10'000'000, .daily = 10'000'000}});
    return static_cast<std::uint8_t>(place);
}

/// About the series first, first + 1, ...
store_call call_of(std::uint64_t first, call_kind kind) {
    store_call asked{.kind = kind};
    asked.budgets.push_back({.id = 1, .limit = 1, .maxima = {.hourly = 100'000'000, .daily = 100'000'000}});
    for (std::uint64_t i = 0; i < tenants; ++i)
        asked.budgets.push_back({.id = fingerprint_of(1'000'000'000 + i),
                                 .limit = 2,
                                 .maxima = {.hourly = 50'000'000, .daily = 50'000'000}});
    random_numbers random{first};
    for (std::uint64_t r = 0; r < combinations; ++r) {
        const std::uint64_t group = random.below(groups);
        const std::uint64_t begin = r * call_series_max / combinations, end = (r + 1) * call_series_max / combinations;
        const auto tenant = static_cast<std::uint8_t>(1 + group % tenants);
        const std::uint8_t place = add_budget_of(group, asked.budgets);
        asked.runs.push_back({.series = static_cast<std::uint32_t>(end - begin), .budgets = {0, tenant, place}});
    }
    for (std::uint64_t i = 0; i < call_series_max; ++i) asked.fingerprints.push_back(fingerprint_of(first + i));
    return asked;
}

std::uint64_t send_all(counting_gate& by, std::uint64_t first, std::uint64_t count, call_kind kind = call_kind::claim) {
    for (std::uint64_t i = 0; i < count; i += call_series_max) by.send(call_of(first + i, kind));
    return by.finish();
}

gate_terms terms() {
    return {.gate = "g",
            .run = 1,
            .hour = first_hour,
            .with_day = true,
            .limits = {1, 2, 3, 4},
            .room = windows_for,
            .day_room = windows_for};
}

/// The only gate of a store with the series that are prepared.
struct prepared_gate : counting_gate {
    prepared_gate() : counting_gate(terms()) { send_all(*this, 0, prepared); }
};

void measure(benchmark::State& state, counting_gate& by, std::uint64_t first, std::uint64_t wanted,
             call_kind kind = call_kind::claim) {
    for (auto _ : state) {
        const double cpu = cpu_seconds(by.connection());
        if (send_all(by, first, measured, kind) != wanted) state.SkipWithError("not answered as meant");
        const double seconds = cpu_seconds(by.connection()) - cpu;
        state.SetIterationTime(seconds);
        state.counters["us_a_series"] = seconds * 1e6 / measured;
        state.counters["series_a_s"] = measured / seconds;
    }
}

/// In the middle of an hour.
void new_series(benchmark::State& state) {
    prepared_gate by;
    measure(state, by, prepared, measured);
}

/// Another gate has claimed them before.
void known_series(benchmark::State& state) {
    prepared_gate by;
    measure(state, by, 0, 0);
}

/// Series of the hour before return, and their gate tells of that.
void returning(benchmark::State& state) {
    prepared_gate by;
    by.enter(first_hour + 1);
    measure(state, by, 0, measured, call_kind::pass);
}

/// New series while places are kept.
void new_in_the_grace(benchmark::State& state) {
    prepared_gate by;
    by.enter(first_hour + 1);
    measure(state, by, prepared, measured);
}

/// Of the hour and of the day.
void memory(benchmark::State& state) {
    counting_gate by{terms()};
    const auto bytes = [&] { return figure(by.connection(), "memory", "used_memory:"); };
    const double empty = bytes();
    for (auto _ : state) {
        send_all(by, 0, prepared);
        state.SetIterationTime(1);
        const double with_feed = bytes();
        by.connection().ask({"DEL", by.store().keys().feed()});
        state.counters["feed_bytes_a_series"] = (with_feed - bytes()) / static_cast<double>(prepared);
        state.counters["bytes_a_series_and_window"] = (bytes() - empty) / 2 / static_cast<double>(prepared);
    }
}

#define SERIESGATE_ONCE(name) BENCHMARK(name)->UseManualTime()->Iterations(1)->Unit(benchmark::kMillisecond)

SERIESGATE_ONCE(new_series);
SERIESGATE_ONCE(known_series);
SERIESGATE_ONCE(returning);
SERIESGATE_ONCE(new_in_the_grace);
SERIESGATE_ONCE(memory);

}  // namespace
