#include <filesystem>

#include "base/clock.hpp"
#include "limit/offering.hpp"
#include "process/persistence.hpp"
#include "support/catch.hpp"
#include "support/files.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;

namespace state_keeper_test {
namespace {

config kept_in(const std::filesystem::path& directory) {
    config made;
    made.rules.global = {.hourly = 100, .daily = 1000};
    made.state.dir = directory.string();
    return made;
}

/// A gate that keeps its state in a directory of this test's.
struct scene {
    scratch_directory scratch;
    config settings = kept_in(scratch / "state.d");
    std::optional<instance_identity> installed{settings};
    hash_key key{installed->secret};
    offering gate{settings.rules, wall_clock::now()};
    state_metrics metrics;
    std::optional<state_keeper> keeper{std::in_place, settings, *installed, key, gate.limiter, metrics};

    void admit(std::uint64_t first) { REQUIRE(gate.accepted(series(first, 1), wall_clock::now()) == 1); }
    [[nodiscard]] bool saved() const { return std::filesystem::exists(scratch / "state.d/state"); }
};

}  // namespace

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
    state_keeper keeper{at.settings, again, same, restarted.limiter, at.metrics};
    CHECK(restarted.daily().series_current == 2);
    CHECK_FALSE(keeper.save_if_changed());
}

}  // namespace state_keeper_test
