#include "app/keeping.hpp"

#include <filesystem>

#include "limit/figures.hpp"
#include "limit/offering.hpp"
#include "log/log.hpp"
#include "net/wall_clock.hpp"
#include "support/catch.hpp"
#include "support/files.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;

namespace {

config kept_in(const std::filesystem::path& directory) {
    config made;
    made.rules.global = {.hourly = 100, .daily = 1000};
    made.state.dir = directory.string();
    made.state.interval = std::chrono::hours{1};
    return made;
}

/// A gate that keeps its state in a directory.
struct gate {
    config settings;
    const installation installed{settings};
    hash_key key{installed.secret};
    offering offers{settings.rules, wall_clock_now()};
    culprits noted{settings, key, offers.limiter, wall_clock_now()};
    state_metrics metrics;
    keeping kept{{.settings = settings,
                  .in = installed,
                  .key = key,
                  .limiter = offers.limiter,
                  .noted = noted,
                  .metrics = metrics,
                  .is_in_fleet = false,
                  .now = [] { return time_point{wall_clock_now()}; }}};

    explicit gate(const std::filesystem::path& directory) : settings(kept_in(directory)) {
        log::set_up(log::format::logfmt, log::level::error);
    }

    void admit(std::uint64_t first) { REQUIRE(offers.accepted(series(first, 1), wall_clock_now()) == 1); }
    [[nodiscard]] bool knows_one() { return figures_of(offers.limiter).hourly.series_current == 1; }
};

}  // namespace

TEST_CASE("what is given up is saved, and another process has the directory from then on") {
    const scratch_directory scratch;
    gate first{scratch / "state.d"};
    first.admit(1);
    CHECK_THROWS_AS(gate{scratch / "state.d"}, std::runtime_error);
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
    CHECK_FALSE(first.kept.give_up());
    CHECK_THROWS_AS(gate{scratch / "state.d"}, std::runtime_error);
    CHECK(first.kept.take_back());
}

TEST_CASE("without a directory there is nothing to keep") {
    gate only{""};
    only.kept.start();
    CHECK(only.kept.give_up());
    CHECK(only.kept.take_back());
    only.kept.finish();
    CHECK(only.metrics.saves.value() == 0);
}
