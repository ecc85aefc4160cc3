// What a new series costs the store of a fleet: the CPU of a real redis-server a series, and its memory. The script of
// the simple protocol (fleet/PROTOCOL.md) beside the first one, in the same run and the same mix.
//
// 128 series a call, hour and day, three budgets a series (the whole, one of 10 tenants, one of 100 groups), 20
// combinations of them a call. The time is the server's own, user and system, from INFO.
#include <benchmark/benchmark.h>

#include <chrono>
#include <deque>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "fleet/claim_store.hpp"
#include "fleet/shared_store.hpp"
#include "support/fingerprints.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;

namespace {

constexpr std::uint64_t prepared = 512'000;  // series that are there before anything is measured
constexpr std::uint64_t measured = 256'000;
constexpr std::uint64_t windows_for = 800'000;  // series
constexpr std::size_t pipelined = 8;
constexpr std::uint64_t tenants = 10, groups = 100, combinations = 20;
constexpr std::int64_t first_hour = 1'139'580;  // noon, 2100-01-01
constexpr std::size_t series_a_call = 128;

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

/// The groups of each run of a call, by the number of its first series.
std::vector<std::uint64_t> groups_of_call(std::uint64_t first) {
    random_numbers random{first};
    std::vector<std::uint64_t> all;
    for (std::uint64_t r = 0; r < combinations; ++r) all.push_back(random.below(groups));
    return all;
}

/// The place of the group's budget, behind those of the whole and the tenants; made if it is the first time.
template <class Budgets, class Make>
std::uint8_t place_of(Budgets& budgets, std::uint64_t id, Make make) {
    std::size_t place = 1 + tenants;
    while (place < budgets.size() && budgets[place].id != id) ++place;
    if (place == budgets.size()) budgets.push_back(make(id));
    return static_cast<std::uint8_t>(place);
}

std::uint32_t series_of_run(std::uint64_t r) {
    return static_cast<std::uint32_t>((r + 1) * series_a_call / combinations - r * series_a_call / combinations);
}

/// The first script and its only gate.
class first_protocol {
    claim_store store_;
    claim_terms terms_{.hour = first_hour - 1, .rules = 1, .grace = 600, .with_day = true};
    std::deque<claim> under_way_;
    std::uint64_t taken_ = 0;

  public:
    first_protocol() {
        terms_.room = terms_.day_room = windows_for;
        open_next_hour();
    }
    void open_next_hour() {
        ++terms_.hour;
        terms_.buckets = {};
        const time_point begin{std::chrono::hours{terms_.hour}};
        terms_.buckets = store_.decide({}, terms_, begin).windows.buckets;
        if (store_.decide({}, terms_, begin).status != claim_status::decided) throw std::runtime_error{"no window"};
    }
    void send(std::uint64_t first, bool passes) {
        terms_.accepted = passes;
        claim asked = claim_of(first);
        store_.send(asked, terms_);
        under_way_.push_back(std::move(asked));
        if (under_way_.size() == pipelined) receive();
    }
    std::uint64_t finish() {
        while (!under_way_.empty()) receive();
        return std::exchange(taken_, 0);
    }
    store_connection& connection() { return store_.connection(); }
    void drop_feed() { connection().ask({"DEL", store_.keys().feed(terms_.hour)}); }

  private:
    void receive() {
        for (const series_answer& is : store_.receive(under_way_.front()).series)
            taken_ += is.outcome == claim_outcome::taken ? 1 : 0;
        under_way_.pop_front();
    }
    static claim claim_of(std::uint64_t first) {
        claim asked;
        asked.budgets.push_back({.id = 1, .maxima = {.hourly = 100'000'000, .daily = 100'000'000}});
        for (std::uint64_t i = 0; i < tenants; ++i)
            asked.budgets.push_back(
                {.id = fingerprint_of(1'000'000'000 + i), .maxima = {.hourly = 50'000'000, .daily = 50'000'000}});
        std::uint64_t r = 0;
        for (const std::uint64_t group : groups_of_call(first)) {
            const std::uint8_t place =
                place_of(asked.budgets, fingerprint_of(2'000'000'000 + group), [](std::uint64_t id) {
                    return claimed_budget{.id = id,
                                          .maxima = {.hourly = 10'000'000, .daily = 10'000'000},
                                          .limit_budgets = 7,
                                          .places_max = 20'000,
                                          .overflow_id = 3,
                                          .overflow_maxima = {.hourly = 10'000'000, .daily = 10'000'000}};
                });
            asked.runs.push_back(
                {.series = series_of_run(r++), .budgets = {0, static_cast<std::uint8_t>(1 + group % tenants), place}});
        }
        for (std::uint64_t i = 0; i < series_a_call; ++i) asked.fingerprints.push_back(fingerprint_of(first + i));
        return asked;
    }
};

/// The script of the simple protocol and its only gate.
class simple_protocol {
    shared_store store_;
    gate_terms terms_{.gate = "g", .run = 1, .hour = first_hour - 1, .with_day = true, .limits = {1, 2, 3}};
    std::deque<store_call> under_way_;
    std::uint64_t taken_ = 0;

  public:
    simple_protocol() {
        terms_.room = terms_.day_room = windows_for;
        heartbeat beat{.gate = "g", .fingerprints = "f", .version = "1"};
        for (const int second : {0, 2, 4}) {
            beat.clock = begin_of(first_hour) + std::chrono::seconds{second};
            terms_.epoch = beat.epoch = store_.beat(beat, "s", beat.clock).state.epoch;
        }
        open_next_hour();
    }
    void open_next_hour() {
        ++terms_.hour;
        terms_.buckets = {};
        terms_.clock = begin_of(terms_.hour) + std::chrono::seconds{10};
        terms_.buckets = store_.decide({}, terms_, "s", terms_.clock).windows.buckets;
        if (store_.decide({}, terms_, "s", terms_.clock).status != store_status::decided)
            throw std::runtime_error{"no window"};
    }
    void send(std::uint64_t first, bool passes) {
        store_call asked = call_of(first, passes ? call_kind::pass : call_kind::claim);
        store_.send(asked, terms_, "s");
        under_way_.push_back(std::move(asked));
        if (under_way_.size() == pipelined) receive();
    }
    std::uint64_t finish() {
        while (!under_way_.empty()) receive();
        return std::exchange(taken_, 0);
    }
    store_connection& connection() { return store_.connection(); }
    void drop_feed() { connection().ask({"DEL", store_.keys().feed()}); }

  private:
    static time_point begin_of(std::int64_t hour) { return time_point{std::chrono::hours{hour}}; }
    void receive() {
        for (const series_decision& is : store_.receive(under_way_.front()).series)
            taken_ += is.outcome == store_outcome::taken ? 1 : 0;
        under_way_.pop_front();
    }
    static store_call call_of(std::uint64_t first, call_kind kind) {
        store_call asked{.kind = kind};
        asked.budgets.push_back({.id = 1, .limit = 1, .maxima = {.hourly = 100'000'000, .daily = 100'000'000}});
        for (std::uint64_t i = 0; i < tenants; ++i)
            asked.budgets.push_back({.id = fingerprint_of(1'000'000'000 + i),
                                     .limit = 2,
                                     .maxima = {.hourly = 50'000'000, .daily = 50'000'000}});
        std::uint64_t r = 0;
        for (const std::uint64_t group : groups_of_call(first)) {
            const std::uint8_t place =
                place_of(asked.budgets, fingerprint_of(2'000'000'000 + group), [](std::uint64_t id) {
                    return shared_budget{.id = id,
                                         .limit = 3,
                                         .maxima = {.hourly = 10'000'000, .daily = 10'000'000},
                                         .group_set = 7,
                                         .groups_max = 20'000,
                                         .overflow_id = 3,
                                         .overflow_maxima = {.hourly = 10'000'000, .daily = 10'000'000}};
                });
            asked.runs.push_back(
                {.series = series_of_run(r++), .budgets = {0, static_cast<std::uint8_t>(1 + group % tenants), place}});
        }
        for (std::uint64_t i = 0; i < series_a_call; ++i) asked.fingerprints.push_back(fingerprint_of(first + i));
        return asked;
    }
};

template <class Protocol>
std::uint64_t send_all(Protocol& to, std::uint64_t first, std::uint64_t count, bool passes = false) {
    for (std::uint64_t i = 0; i < count; i += series_a_call) to.send(first + i, passes);
    return to.finish();
}

template <class Protocol>
void measure(benchmark::State& state, Protocol& of, std::uint64_t first, std::uint64_t wanted, bool passes = false) {
    for (auto _ : state) {
        const double cpu = cpu_seconds(of.connection());
        if (send_all(of, first, measured, passes) != wanted) state.SkipWithError("not answered as meant");
        const double seconds = cpu_seconds(of.connection()) - cpu;
        state.SetIterationTime(seconds);
        state.counters["us_a_series"] = seconds * 1e6 / measured;
        state.counters["series_a_s"] = measured / seconds;
    }
}

/// In the middle of an hour.
template <class Protocol>
void new_series(benchmark::State& state) {
    Protocol of;
    send_all(of, 0, prepared);
    measure(state, of, prepared, measured);
}

/// Another gate has claimed them before.
template <class Protocol>
void known_series(benchmark::State& state) {
    Protocol of;
    send_all(of, 0, prepared);
    measure(state, of, 0, 0);
}

/// Series of the hour before return, and their gate tells of that.
template <class Protocol>
void returning(benchmark::State& state) {
    Protocol of;
    send_all(of, 0, prepared);
    of.open_next_hour();
    measure(state, of, 0, measured, true);
}

/// New series while places are kept.
template <class Protocol>
void new_in_the_grace(benchmark::State& state) {
    Protocol of;
    send_all(of, 0, prepared);
    of.open_next_hour();
    measure(state, of, prepared, measured);
}

/// Of the hour and of the day.
template <class Protocol>
void memory(benchmark::State& state) {
    Protocol of;
    const auto bytes = [&] { return figure(of.connection(), "memory", "used_memory:"); };
    const double empty = bytes();
    for (auto _ : state) {
        send_all(of, 0, prepared);
        state.SetIterationTime(1);
        const double with_feed = bytes();
        of.drop_feed();
        state.counters["feed_bytes_a_series"] = (with_feed - bytes()) / static_cast<double>(prepared);
        state.counters["bytes_a_series_and_window"] = (bytes() - empty) / 2 / static_cast<double>(prepared);
    }
}

#define SERIESGATE_BOTH(name)                                                                                \
    BENCHMARK_TEMPLATE(name, first_protocol)->UseManualTime()->Iterations(1)->Unit(benchmark::kMillisecond); \
    BENCHMARK_TEMPLATE(name, simple_protocol)->UseManualTime()->Iterations(1)->Unit(benchmark::kMillisecond)

SERIESGATE_BOTH(new_series);
SERIESGATE_BOTH(known_series);
SERIESGATE_BOTH(returning);
SERIESGATE_BOTH(new_in_the_grace);
SERIESGATE_BOTH(memory);

}  // namespace
