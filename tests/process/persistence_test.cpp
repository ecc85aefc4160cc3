#include "process/persistence.hpp"

#include <filesystem>
#include <stop_token>
#include <thread>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "limit/figures.hpp"
#include "limit/offering.hpp"
#include "support/catch.hpp"
#include "support/files.hpp"
#include "support/running_loop.hpp"

namespace seriesgate::testing::persistence_test {
namespace {

config kept_in(const std::filesystem::path& directory, std::chrono::milliseconds interval = 10s) {
    config made;
    made.rules.global = {.hourly = 100, .daily = 1000};
    made.state.dir = directory.string();
    made.state.interval = interval;
    return made;
}

/// A gate that keeps its state in a directory.
struct gate {
    config settings;
    const std::chrono::hours ahead;  // what it decides by: a fleet's clock is the store's
    const instance_identity installed{settings};
    hash_key key{installed.secret};
    offering offers{settings.rules, now()};
    shared_cardinality cardinality{settings, key, offers.limiter, now()};
    state_metrics metrics;
    persistence kept{{.settings = settings,
                      .in = installed,
                      .key = key,
                      .limiter = offers.limiter,
                      .cardinality = cardinality,
                      .metrics = metrics,
                      .now = [this] { return now(); }}};

    explicit gate(const std::filesystem::path& directory, std::chrono::milliseconds interval = std::chrono::hours{1},
                  std::chrono::hours clock_ahead = {})
        : settings(kept_in(directory, interval)), ahead(clock_ahead) {
        log::set_up(log::format::logfmt, log::level::error);
    }

    [[nodiscard]] time_point now() const { return time_point{wall_clock::now()} + ahead; }
    void admit(std::uint64_t first) { REQUIRE(offers.accepted(series(first, 1), now()) == 1); }
    [[nodiscard]] bool knows_one() { return figures_of(offers.limiter).hourly.series_current == 1; }
};

template <class Condition>
void until(Condition is_so) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds{20};
    while (!is_so() && std::chrono::steady_clock::now() < end)
        std::this_thread::sleep_for(std::chrono::milliseconds{1});
    REQUIRE(is_so());
}

/// A gate that keeps its state in a directory of this test's.
struct scene {
    scratch_directory scratch;
    config settings = kept_in(scratch / "state.d");
    std::optional<instance_identity> installed{settings};
    hash_key key{installed->secret};
    offering gate{settings.rules, wall_clock::now()};
    state_metrics metrics;
    std::optional<state_keeper> keeper{std::in_place, settings, *installed,       key,
                                       gate.limiter,  metrics,  wall_clock::now()};

    void admit(std::uint64_t first) { REQUIRE(gate.accepted(series(first, 1), wall_clock::now()) == 1); }
    [[nodiscard]] bool saved() const { return std::filesystem::exists(scratch / "state.d/state"); }
};

using seconds = std::chrono::duration<double>;

void work(seconds how_long) {
    const auto end = thread_cpu_clock::now() + how_long;
    while (thread_cpu_clock::now() < end) continue;
}

/// What `call` takes by the clock, per second that it works: 1 on a machine that does nothing else.
template <class Call>
double slowness(const Call& call) {
    const auto began = std::chrono::steady_clock::now();
    const auto used = thread_cpu_clock::now();
    call();
    return seconds{std::chrono::steady_clock::now() - began}.count() / seconds{thread_cpu_clock::now() - used}.count();
}

TEST_CASE("a secret that could not be kept with a new directory is kept with the next save") {
    scene at;
    at.admit(1);
    REQUIRE(at.keeper->save_if_changed());
    for (const char* each : {"lock", "secret", "state"}) std::filesystem::remove(at.scratch / "state.d" / each);
    const auto in_the_way = at.scratch / "state.d/secret.new";
    std::filesystem::create_directory(in_the_way);
    write_file(in_the_way / "x", "x");
    CHECK_FALSE(at.keeper->save_if_changed());
    CHECK(at.metrics.is_failing.value() == 1);
    std::filesystem::remove_all(in_the_way);
    CHECK(at.keeper->save_if_changed());  // though nothing has changed since the last good one
    CHECK(at.metrics.is_failing.value() == 0);
    CHECK(std::filesystem::exists(at.scratch / "state.d/secret"));
}

TEST_CASE("another's secret that came into a new directory is written over") {
    scene at;
    at.admit(1);
    REQUIRE(at.keeper->save_if_changed());
    for (const char* each : {"lock", "state"}) std::filesystem::remove(at.scratch / "state.d" / each);
    write_file(at.scratch / "state.d/secret", std::string(32, 'x'));
    CHECK(at.keeper->save_if_changed());
    CHECK(read_file(at.scratch / "state.d/secret") != std::string(32, 'x'));
}

TEST_CASE("a save that is given up twice is a failure") {
    scratch_directory scratch;
    config settings = kept_in(scratch / "state.d");
    settings.rules.global = {.hourly = 1'000'000, .daily = 1'000'000};
    const instance_identity installed{settings};
    const hash_key key{installed.secret};
    time_point now = wall_clock::now();
    offering gate{settings.rules, now};
    state_metrics metrics;
    state_keeper keeper{settings, installed, key, gate.limiter, metrics, now};
    CHECK_FALSE(keeper.save([&] { gate.limiter.maintain(now += 1h); }));  // an hour ends amid each try
    CHECK(metrics.save_failures.value() == 1);
    CHECK(metrics.is_failing.value() == 1);
}

TEST_CASE("what was seen is not saved over that of another gate, whose the directory has become") {
    const scratch_directory scratch;
    gate first{scratch / "state.d"};
    std::filesystem::remove(scratch / "state.d/lock");
    gate second{scratch / "state.d"};
    second.kept.finish();
    std::filesystem::remove(scratch / "state.d/observed");
    first.kept.finish();
    CHECK_FALSE(std::filesystem::exists(scratch / "state.d/observed"));
}

TEST_CASE("the state is loaded by the clock that decides about requests") {
    const scratch_directory scratch;
    for (const bool is_restart : {false, true}) {
        gate at{scratch / "state.d", std::chrono::hours{1}, std::chrono::hours{2}};
        if (!is_restart) at.admit(1);
        CHECK(at.knows_one());
        at.kept.finish();
    }
}

TEST_CASE("what is given up is saved, and another process has the directory from then on") {
    const scratch_directory scratch;
    gate first{scratch / "state.d"};
    first.admit(1);
    CHECK_THROWS_AS(gate{scratch / "state.d"}, std::runtime_error);
    first.kept.promise();
    REQUIRE(first.kept.give_up());
    gate next{scratch / "state.d"};
    CHECK(next.knows_one());
    CHECK_FALSE(first.kept.take_back());
    first.kept.finish();
    CHECK(first.metrics.saves.value() == 1);
    next.kept.finish();
    CHECK(next.metrics.saves.value() == 1);
}

TEST_CASE("what is taken back is saved at the end") {
    const scratch_directory scratch;
    {
        gate first{scratch / "state.d"};
        first.kept.promise();
        REQUIRE(first.kept.give_up());
        { const gate next{scratch / "state.d"}; }
        REQUIRE(first.kept.take_back());
        CHECK_THROWS_AS(gate{scratch / "state.d"}, std::runtime_error);
        first.admit(1);
        first.kept.finish();
        CHECK(first.metrics.saves.value() == 2);
    }
    gate after{scratch / "state.d"};
    CHECK(after.knows_one());
}

TEST_CASE("what cannot be saved is not given up") {
    const scratch_directory scratch;
    gate first{scratch / "state.d"};
    first.admit(1);
    std::filesystem::create_directories(scratch / "state.d/state/in-the-way");
    first.kept.promise();
    CHECK_FALSE(first.kept.give_up());
    CHECK_THROWS_AS(gate{scratch / "state.d"}, std::runtime_error);
    CHECK(first.kept.take_back());
}

TEST_CASE("what another process had when it was wanted back is saved when that has gone") {
    const scratch_directory scratch;
    {
        gate first{scratch / "state.d", std::chrono::milliseconds{1}};
        {
            const running_loop saving{[&] { return first.kept.run({}); }};
            first.kept.promise();
            REQUIRE(first.kept.give_up());
            {
                const gate next{scratch / "state.d"};
                CHECK_FALSE(first.kept.take_back());
                first.admit(1);
                until([&] { return first.metrics.save_failures.value() != 0; });
                CHECK(first.metrics.saves.value() == 1);
            }
            SECTION("now and then") {
                until([&] { return first.metrics.saves.value() == 2; });
            }
        }
        first.kept.finish();
    }
    gate after{scratch / "state.d"};
    CHECK(after.knows_one());
}

TEST_CASE("what is wanted back before it was given up stays, whenever that comes") {
    const scratch_directory scratch;
    gate first{scratch / "state.d"};
    first.kept.promise();
    REQUIRE(first.kept.take_back());
    CHECK_FALSE(first.kept.give_up());
    CHECK_THROWS_AS(gate{scratch / "state.d"}, std::runtime_error);
}

TEST_CASE("at the end what is about to be given up is saved, and stays") {
    const scratch_directory scratch;
    gate first{scratch / "state.d"};
    first.admit(1);
    first.kept.promise();
    first.kept.finish();
    CHECK(first.metrics.saves.value() == 1);
    CHECK_FALSE(first.kept.give_up());
}

TEST_CASE("nothing is saved now and then of what is promised") {
    const scratch_directory scratch;
    gate first{scratch / "state.d", std::chrono::milliseconds{1}};
    first.kept.promise();
    first.admit(1);
    const running_loop saving{[&] { return first.kept.run({}); }};
    std::this_thread::sleep_for(std::chrono::milliseconds{50});
    CHECK(first.metrics.saves.value() == 0);
    REQUIRE(first.kept.take_back());
    until([&] { return first.metrics.saves.value() == 1; });
}

TEST_CASE("without a directory there is nothing to keep") {
    gate only{""};
    const running_loop saving{[&] { return only.kept.run({}); }};
    only.kept.promise();
    CHECK(only.kept.give_up());
    CHECK(only.kept.take_back());
    only.kept.finish();
    CHECK(only.metrics.saves.value() == 0);
}

TEST_CASE("nothing is saved while nothing has changed") {
    scene at;
    CHECK_FALSE(at.keeper->save_if_changed());
    CHECK_FALSE(at.saved());
    at.admit(1);
    CHECK(at.keeper->save_if_changed());
    CHECK(at.saved());
    CHECK(at.metrics.saves.value() == 1);
    CHECK(at.metrics.bytes.value() ==
          static_cast<std::int64_t>(std::filesystem::file_size(at.scratch / "state.d/state")));
    CHECK_FALSE(at.keeper->save_if_changed());
    CHECK(at.metrics.saves.value() == 1);
    at.admit(2);
    CHECK(at.keeper->save_if_changed());
    CHECK(at.metrics.saves.value() == 2);
}

TEST_CASE("a directory that has gone is made anew with the secret and the state, though nothing has changed") {
    scene at;
    at.admit(1);
    REQUIRE(at.keeper->save_if_changed());
    const std::string secret = read_file(at.scratch / "state.d/secret");
    REQUIRE_FALSE(secret.empty());
    std::filesystem::remove_all(at.scratch / "state.d");
    CHECK(at.keeper->save_if_changed());
    CHECK(at.saved());
    CHECK(read_file(at.scratch / "state.d/secret") == secret);
}

TEST_CASE("a save that fails is counted and tried again, though nothing has changed since") {
    scene at;
    at.admit(1);
    std::filesystem::create_directory(at.scratch / "state.d/state");  // what is to be replaced is no file
    write_file(at.scratch / "state.d/state/in-the-way", "x");
    CHECK_FALSE(at.keeper->save_if_changed());
    CHECK(at.metrics.save_failures.value() == 1);
    CHECK(at.metrics.saves.value() == 0);
    std::filesystem::remove_all(at.scratch / "state.d/state");
    CHECK(at.keeper->save_if_changed());
    CHECK(at.metrics.saves.value() == 1);
}

TEST_CASE("what was saved is there after a restart, and is not saved again") {
    scene at;
    at.admit(1);
    at.admit(2);
    REQUIRE(at.keeper->save());
    at.keeper.reset();
    at.installed.reset();

    instance_identity again{at.settings};
    const hash_key same{again.secret};
    CHECK(same.identity() == at.key.identity());
    offering restarted{at.settings.rules, wall_clock::now()};
    state_keeper keeper{at.settings, again, same, restarted.limiter, at.metrics, wall_clock::now()};
    CHECK(restarted.daily().series_current == 2);
    CHECK_FALSE(keeper.save_if_changed());
}

TEST_CASE("who keeps a pace works a tenth of the time, in long pieces or in short ones") {
    const auto piece = GENERATE(seconds{20ms}, seconds{100us});
    background_pace pace{std::stop_token{}};
    CHECK(slowness([&] {
              for (seconds done{0}; done < 60ms; done += piece) {
                  work(piece);
                  pace.rest();
              }
          }) > 8.5);
}

TEST_CASE("once it is time to stop, nobody rests") {
    std::stop_source stop;
    background_pace pace{stop.get_token()};
    stop.request_stop();
    work(500ms);
    const auto began = std::chrono::steady_clock::now();
    pace.rest();
    CHECK(seconds{std::chrono::steady_clock::now() - began} < 4s);  // of 4.5 s
}

TEST_CASE("what was worked before the pace was made is not rested for") {
    work(500ms);
    background_pace pace{std::stop_token{}};
    const auto began = std::chrono::steady_clock::now();
    pace.rest();
    CHECK(seconds{std::chrono::steady_clock::now() - began} < 4s);
}

}  // namespace
}  // namespace seriesgate::testing::persistence_test
