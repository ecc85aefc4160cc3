// What other gates of a fleet have had counted.
#include "limit/learning.hpp"

#include "limit/fleet_gate.hpp"
#include "limit/limiter_state.hpp"
#include "support/catch.hpp"

namespace seriesgate::testing::learning_test {
namespace {

/// Of series as the gate offers them.
std::vector<std::uint64_t> fingerprints(const fleet_gate& gate, std::uint64_t first, std::uint64_t count) {
    std::vector<std::uint64_t> made;
    for (std::uint64_t i = first; i < first + count; ++i) made.push_back(fingerprint_in(gate.sent, i));
    return made;
}

/// How many of these series may pass at once.
auto incumbents(const fleet_gate& gate, std::uint64_t first, std::uint64_t count) {
    const auto current = gate.limiter.sets();
    return std::ranges::count_if(fingerprints(gate, first, count),
                                 [&](std::uint64_t each) { return current->was_admitted_before(each); });
}

auto known_in_day(const fleet_gate& gate, std::uint64_t first, std::uint64_t count) {
    const auto current = gate.limiter.sets();
    return std::ranges::count_if(fingerprints(gate, first, count),
                                 [&](std::uint64_t each) { return current->day_has(each); });
}

/// @return how many series a gate that gets these would ask the store about.
std::size_t asked(fleet_gate& gate, std::uint64_t first, std::uint64_t count, time_point now) {
    gate.lookup(first, count, now);
    return static_cast<std::size_t>(std::ranges::count_if(gate.open.pending, [&](std::uint32_t entry) {
        return !gate.limiter.hour_has(gate.offered[entry].fingerprint);
    }));
}

bool learn_before(fleet_gate& gate, const window_span& hour, std::uint64_t first, std::uint64_t count) {
    return expect_hour_before(gate.limiter, hour) &&
           learn_hour_before(gate.limiter, hour, fingerprints(gate, first, count));
}

}  // namespace

TEST_CASE("what others have had counted is known, and nobody is asked about it") {
    fleet_gate gate{three_limits()};
    CHECK(learn(gate.limiter, hour_of(at(10)), fingerprints(gate, 0, 3)));
    CHECK(asked(gate, 0, 4, at(10, 30)) == 1);
    CHECK(learn(gate.limiter, hour_of(at(10)), fingerprints(gate, 0, 4)));
    CHECK(asked(gate, 0, 4, at(10, 30)) == 0);
    CHECK(gate.figures().hourly.series_current == 0);  // the store says how many there are
    CHECK(gate.lookup(0, 4, at(11)) == 4);
}

TEST_CASE("what is learnt changes what a snapshot has") {
    fleet_gate gate{three_limits()};
    std::uint64_t before = gate.limiter.revision();
    const auto has_changed = [&] { return std::exchange(before, gate.limiter.revision()) != gate.limiter.revision(); };
    CHECK_FALSE(learn(gate.limiter, hour_of(at(11)), fingerprints(gate, 0, 3)));
    CHECK_FALSE(has_changed());
    CHECK(learn(gate.limiter, hour_of(at(10)), fingerprints(gate, 0, 3)));
    CHECK(has_changed());
    CHECK(expect_hour_before(gate.limiter, hour_of(at(10))));
    CHECK(has_changed());
    CHECK(learn_hour_before(gate.limiter, hour_of(at(10)), fingerprints(gate, 3, 3)));
    CHECK(has_changed());
    const std::shared_ptr<const compiled_rules> rules = gate.limiter.rules();
    for (const bool is_new : {true, false}) {
        show_counts(gate.limiter, hour_of(at(10)), *rules,
                    [](const budget_pair&) { return std::optional{fleet_counts{.hourly = 2, .daily = 3, .kept = 1}}; });
        CHECK(has_changed() == is_new);
    }
}

TEST_CASE("what was refused here, and admitted for another gate, flows here too") {
    fleet_gate gate{three_limits()};
    gate.offer(0, 2, at(10, 30), refused_by_budget(0, refusing_window::hourly));
    CHECK(learn(gate.limiter, hour_of(at(10)), fingerprints(gate, 1, 1)));
    gate.lookup(0, 2, at(10, 31));
    CHECK(gate.commit(gate.saying({}), at(10, 31)) == verdict_list{verdict::refused_hourly, verdict::known});
}

TEST_CASE("what was refused here, and was there for another gate in the hour before, is asked about again") {
    fleet_gate gate{three_limits(), at(11, 1)};
    gate.offer(0, 2, at(11, 1), refused_by_budget(0, refusing_window::hourly));
    CHECK(gate.lookup(0, 2, at(11, 2)) == 0);
    CHECK(learn_before(gate, hour_of(at(11)), 1, 1));
    CHECK(gate.lookup(0, 2, at(11, 2)) == 2);
    gate.offer(0, 2, at(11, 2), refused_by_budget(0, refusing_window::hourly));
    CHECK(learn_before(gate, hour_of(at(11)), 1, 1));
    CHECK(gate.lookup(0, 2, at(11, 2)) == 0);  // nothing new was heard
}

TEST_CASE("what was counted in another hour is not known in this one") {
    fleet_gate gate{three_limits()};
    gate.offer(0, 1, at(11, 30), store_takes);
    CHECK_FALSE(learn(gate.limiter, hour_of(at(10)), fingerprints(gate, 1, 3)));
    CHECK_FALSE(learn(gate.limiter, hour_of(at(12)), fingerprints(gate, 1, 3)));
    CHECK(gate.lookup(0, 4, at(11, 30)) == 3);
}

TEST_CASE("a table that has no room for what is learnt gets it") {
    fleet_gate gate{{.global = {.hourly = 1}}};
    const auto many = fingerprints(gate, 0, 300'000);
    CHECK(learn(gate.limiter, hour_of(at(10)), many));
    CHECK(asked(gate, 0, 300'000, at(10, 30)) == 0);
}

TEST_CASE("a gate that was not there in the hour before knows its incumbents when it has learnt them") {
    fleet_gate gate{three_limits(), at(10, 1)};
    CHECK(incumbents(gate, 0, 8) == 0);
    CHECK(learn_before(gate, hour_of(at(10)), 0, 5));
    CHECK(incumbents(gate, 0, 8) == 5);
    CHECK(known_in_day(gate, 0, 8) == 5);
    CHECK(gate.lookup(0, 8, at(10, 1)) == 8);  // in the hour itself they are yet to be counted
    CHECK(gate.figures().daily.series_current == 0);
}

TEST_CASE("in the first hour of a day, incumbents are of the day before") {
    fleet_gate gate{three_limits(), at(0, 1)};
    CHECK(learn_before(gate, hour_of(at(0)), 0, 5));
    CHECK(incumbents(gate, 0, 8) == 5);
    CHECK(known_in_day(gate, 0, 8) == 0);
}

TEST_CASE("a gate that was there in the hour before learns those that came through others, too") {
    const int hour = GENERATE(10, 24);
    fleet_gate gate{three_limits(), at(hour - 1, 30)};
    gate.offer(0, 3, at(hour - 1, 59), store_takes);
    gate.lookup(0, 1, at(hour, 1));
    CHECK(incumbents(gate, 0, 8) == 3);
    CHECK(learn_before(gate, hour_of(at(hour)), 2, 4));
    CHECK(incumbents(gate, 0, 8) == 6);
    gate.lookup(0, 1, at(hour, 10));  // the grace is over
    CHECK(incumbents(gate, 0, 8) == 6);
    CHECK(learn_before(gate, hour_of(at(hour)), 6, 1));
    CHECK(incumbents(gate, 0, 8) == 7);
}

TEST_CASE("incumbents of another hour are not learnt, nor those that nobody has expected") {
    fleet_gate gate{three_limits(), at(11, 1)};
    for (const int hour : {10, 12}) {
        CHECK_FALSE(expect_hour_before(gate.limiter, hour_of(at(hour))));
        CHECK_FALSE(learn_hour_before(gate.limiter, hour_of(at(hour)), fingerprints(gate, 0, 3)));
    }
    CHECK_FALSE(learn_hour_before(gate.limiter, hour_of(at(11)), fingerprints(gate, 0, 3)));
    CHECK(learn_before(gate, hour_of(at(11)), 0, 3));
    gate.lookup(0, 3, at(12));
    CHECK(incumbents(gate, 0, 3) == 0);  // none has come in the hour that is the one before now
}

TEST_CASE("many incumbents get room") {
    const int hour = GENERATE(10, 24);
    fleet_gate gate{{.global = {.hourly = 1}}, at(hour, 1)};
    REQUIRE(expect_hour_before(gate.limiter, hour_of(at(hour))));
    CHECK(learn_hour_before(gate.limiter, hour_of(at(hour)), fingerprints(gate, 0, 300'000)));
    CHECK(incumbents(gate, 0, 300'000) == 300'000);
}

}  // namespace seriesgate::testing::learning_test
