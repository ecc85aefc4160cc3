#include "process/persistence.hpp"

#include <filesystem>
#include <thread>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "limit/figures.hpp"
#include "limit/offering.hpp"
#include "support/catch.hpp"
#include "support/files.hpp"
#include "support/running_loop.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;

namespace persistence_test {
namespace {

config kept_in(const std::filesystem::path& directory, std::chrono::milliseconds interval) {
    config made;
    made.rules.global = {.hourly = 100, .daily = 1000};
    made.state.dir = directory.string();
    made.state.interval = interval;
    return made;
}

/// A gate that keeps its state in a directory.
struct gate {
    config settings;
    const instance_identity installed{settings};
    hash_key key{installed.secret};
    offering offers{settings.rules, wall_clock::now()};
    shared_cardinality noted{settings, key, offers.limiter, wall_clock::now()};
    state_metrics metrics;
    persistence kept{{.settings = settings,
                      .in = installed,
                      .key = key,
                      .limiter = offers.limiter,
                      .noted = noted,
                      .metrics = metrics,
                      .is_in_fleet = false,
                      .now = [] { return time_point{wall_clock::now()}; }}};

    explicit gate(const std::filesystem::path& directory, std::chrono::milliseconds interval = std::chrono::hours{1})
        : settings(kept_in(directory, interval)) {
        log::set_up(log::format::logfmt, log::level::error);
    }

    void admit(std::uint64_t first) { REQUIRE(offers.accepted(series(first, 1), wall_clock::now()) == 1); }
    [[nodiscard]] bool knows_one() { return figures_of(offers.limiter).hourly.series_current == 1; }
};

template <class Condition>
void until(Condition is_so) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds{20};
    while (!is_so() && std::chrono::steady_clock::now() < end)
        std::this_thread::sleep_for(std::chrono::milliseconds{1});
    REQUIRE(is_so());
}

}  // namespace

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

}  // namespace persistence_test
