// Random histories of fleets: what every gate promises, whatever happens to others and to the store.
#include "claim/fleet_simulation.hpp"

#include <cstdlib>

#include "support/catch.hpp"
#include "support/sanitizers.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;

namespace {

constexpr std::uint64_t steps = 1'500;

std::uint64_t seeds(std::uint64_t usual) {
    const char* const wanted = std::getenv("SERIESGATE_SEEDS");
    if (wanted != nullptr) return std::strtoull(wanted, nullptr, 10);
    return sanitized ? usual / 5 : usual;
}

/// @return what broke, if anything did.
std::optional<std::string> break_in(fleet_simulation& fleet, const history_faults& faults) {
    try {
        for (std::uint64_t i = 0; i < steps; ++i) {
            if (faults.observes && i == steps / 3) fleet.enforce();
            fleet.step();
            if (i % 500 == 499) fleet.heal();
        }
    } catch (const broken_promise& broken) {
        return broken.what();
    }
    return std::nullopt;
}

/// Whether one of the first histories breaks a promise that it keeps without the fault.
bool is_broken(const history_faults& faults, const gate_mutants& wrong, const shared_store_mutants& wrong_store = {}) {
    for (std::uint64_t seed = 1; seed <= 300; ++seed) {
        fleet_simulation fleet{seed, faults, wrong, wrong_store};
        if (!break_in(fleet, faults)) continue;
        fleet_simulation sound{seed, faults};
        return !break_in(sound, faults);
    }
    return false;
}

void promises_hold(const history_faults& faults, std::uint64_t usual) {
    std::uint64_t accepted = 0, refused = 0, lapses = 0, hours = 0;
    const char* const first = std::getenv("SERIESGATE_SEED");
    for (std::uint64_t seed = first == nullptr ? 1 : std::strtoull(first, nullptr, 10); seed <= seeds(usual); ++seed) {
        CAPTURE(seed);
        fleet_simulation fleet{seed, faults};
        CHECK(break_in(fleet, faults).value_or("") == "");
        accepted += fleet.accepted;
        refused += fleet.refused;
        lapses += fleet.lapses;
        hours += fleet.hours_seen;
    }
    CHECK(std::min({accepted, refused, lapses, hours}) > 0);
}

}  // namespace

TEST_CASE("a fleet keeps its promises while all goes well") {
    promises_hold({}, 30);
}

TEST_CASE("a fleet keeps its promises when messages are lost, and gates are cut off") {
    promises_hold({.loses_messages = true}, 30);
    promises_hold({.loses_messages = true, .cuts_off = true}, 30);
}

TEST_CASE("a fleet keeps its promises when gates are restarted") {
    promises_hold({.loses_messages = true, .cuts_off = true, .restarts = true}, 30);
}

TEST_CASE("a fleet keeps its promises when gates leave, and others begin") {
    promises_hold({.leaves = true}, 30);
    promises_hold({.loses_data = true, .leaves = true}, 30);
    promises_hold({.loses_messages = true, .cuts_off = true, .loses_data = true, .leaves = true}, 30);
}

TEST_CASE("a fleet keeps its promises when the store loses its data") {
    promises_hold({.loses_data = true}, 30);
    promises_hold({.loses_data = true, .lags = true}, 30);
    promises_hold({.loses_data = true, .lags = true, .restarts_all = true}, 50);
    promises_hold({.loses_messages = true, .cuts_off = true, .loses_data = true}, 30);
}

TEST_CASE("a fleet keeps its promises when the store's clock leaps") {
    promises_hold({.loses_messages = true, .leaps = true}, 30);
}

TEST_CASE("a fleet keeps its promises when its limits observe at first") {
    promises_hold({.observes = true}, 20);
    promises_hold({.loses_messages = true, .cuts_off = true, .observes = true}, 20);
}

TEST_CASE("a fleet keeps its promises when all of that happens") {
    for (const auto becomes :
         {history_faults::unanswered::refused, history_faults::unanswered::alone, history_faults::unanswered::admitted})
        promises_hold({.loses_messages = true,
                       .cuts_off = true,
                       .loses_data = true,
                       .restarts = true,
                       .leaves = true,
                       .leaps = true,
                       .observes = becomes == history_faults::unanswered::alone,
                       .becomes = becomes},
                      20);
}

TEST_CASE("a fault in a gate breaks a promise") {
    if (sanitized) return;
    const auto [name, wrong, faults] = GENERATE(table<std::string, gate_mutants, history_faults>({
        {"incumbents pass at once after the gate has told", {.accepts_after_told = true}, {.cuts_off = true}},
        {"incumbents pass at once where they were too many", {.ignores_over_full = true}, {.observes = true}},
        {"what the store has lost is not told again", {.never_refills = true}, {.loses_data = true}},
        {"what the store was not told of counts as told", {.forgets_failed = true}, {.loses_messages = true}},
        {"a gate says that it has told while something is untold",
         {.says_told_unclean = true},
         {.loses_messages = true, .cuts_off = true}},
        {"incumbents do not pass without an answer", {.accepts_nothing = true}, {.loses_messages = true}},
    }));
    CAPTURE(name);
    CHECK(is_broken(faults, wrong));
}

TEST_CASE("a fault in the store breaks a promise") {
    if (sanitized) return;
    const auto [name, wrong, faults] = GENERATE(table<std::string, shared_store_mutants, history_faults>({
        {"places lapse by a timer", {.lapses_by_timer = true}, {.cuts_off = true}},
        {"a refill is not waited for", {.refills_without_waiting = true}, {.loses_data = true}},
        {"a pass needs room",
         {.refuses_passes = true},
         {.cuts_off = true, .becomes = history_faults::unanswered::admitted}},
        {"what was over its limit passes", {.admits_over_full = true}, {.observes = true}},
        {"a server that has lost data goes on", {.accepts_any_epoch = true}, {.loses_data = true, .lags = true}},
        {"a gate that has left is brought back", {.forgets_who_left = true}, {.loses_data = true, .leaves = true}},
    }));
    CAPTURE(name);
    CHECK(is_broken(faults, {}, wrong));
}
