// What becomes of incumbents that were accepted at once in a day's first hour and never told of: by the scripts in a
// real store and by the model.
#include <string>
#include <utility>
#include <vector>

#include "fleet/store_and_model.hpp"
#include "support/catch.hpp"
#include "support/fingerprints.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;

namespace days_first_hour_test {
namespace {

using namespace std::chrono_literals;

constexpr std::int64_t midnight = first_hour + 24;
constexpr std::uint64_t whole = 1;

time_point at(std::int64_t of, std::chrono::nanoseconds in_hour = 20min) {
    return time_point{std::chrono::hours{of}} + in_hour;
}

claim_terms terms_of(std::int64_t of, std::uint64_t all_rules = 3) {
    return {
        .hour = of, .rules = 1, .all_rules = all_rules, .grace = 600, .with_day = true, .room = 1000, .day_room = 1000};
}

claimed_budget everything() {
    return {.id = whole, .maxima = {.hourly = 10, .daily = 12}};
}

/// Group `number` of a limit with one place of its own.
claimed_budget group(std::uint64_t number) {
    return {.id = 100 + number,
            .maxima = {.daily = 5},
            .limit_budgets = 7,
            .places_max = 1,
            .overflow_id = 9,
            .overflow_maxima = {.daily = 3}};
}

/// A fleet of which gates are only what they ask.
struct fleet_at_midnight {
    store_and_model both;
    claimed_budget budget = everything();

    /// @return one letter a series, and for those refused the place of the budget and the window
    std::string ask(std::uint64_t first, std::uint64_t count, std::int64_t of, std::chrono::nanoseconds in_hour = 20min,
                    claim_terms terms = {}) {
        if (terms.hour == 0) terms = terms_of(of);
        claim asked{.budgets = {budget}};
        for (std::uint64_t i = first; i < first + count; ++i) asked.fingerprints.push_back(fingerprint_of(i));
        asked.runs = {{.series = static_cast<std::uint32_t>(count), .budgets = {0}}};
        const claim_answer answer = both.ask(asked, terms, at(of, in_hour));
        std::ostringstream text;
        for (const series_answer& is : answer.series) text << is;
        if (!answer.budgets.empty()) text << " " << answer.budgets.front();
        return text.str();
    }
    telling_state enter(const std::string& gate, std::int64_t of, std::chrono::nanoseconds in_hour = 1s) {
        return both.enter(gate, terms_of(of), at(of, in_hour));
    }
    std::string expires(std::int64_t of) {
        return std::to_string(both.store().connection().number({"EXPIRETIME", both.store().keys().hour(of)}));
    }

    /// Eight series of the hour before midnight. A gate that may let all of them pass, three that come back, and two
    /// newcomers, which is all that there is room for in the hour.
    void over_midnight() {
        CHECK(ask(0, 8, midnight - 1) == "tttttttt own 8/8 awaited 0");
        CHECK(ask(100, 3, midnight, 1s) == "ttr0h own 2/2 awaited 8");
        CHECK(enter("one", midnight) == telling_state::listed);
        CHECK(ask(0, 3, midnight, 2s) == "ttt own 5/5 awaited 5");
        CHECK(ask(103, 1, midnight) == "r0h own 5/5 awaited 5");  // the grace is over: its places are kept
    }
};

}  // namespace

TEST_CASE("what was awaited when a day's first hour ended has its place in the day, to the series") {
    fleet_at_midnight fleet;
    fleet.over_midnight();
    SECTION("in the next hour") {
        CHECK(fleet.ask(200, 3, midnight + 1) == "ttr0d own 2/12 awaited 0");
        CHECK(fleet.ask(0, 3, midnight + 1) == "ttt own 5/12 awaited 0");  // the day knows these
        CHECK(fleet.ask(3, 1, midnight + 1) == "r0d own 5/12 awaited 0");  // it has its place, and is no other's either
    }
    SECTION("after hours in which nobody claimed, once") {
        CHECK(fleet.ask(200, 1, midnight + 5) == "t own 1/11 awaited 0");
        CHECK(fleet.ask(201, 1, midnight + 5) == "t own 2/12 awaited 0");
        CHECK(fleet.ask(202, 1, midnight + 23) == "r0d own 0/12 awaited 0");
        CHECK(fleet.both.store().fields(fleet.both.store().keys().day(midnight / 24)).at("1u") == "1");
    }
    SECTION("but not in the next one") {
        CHECK(fleet.ask(200, 3, midnight + 24) == "ttt own 3/3 awaited 0");
    }
    fleet.both.compare();
}

TEST_CASE("when all gates have told, a day keeps nothing for what has not come back") {
    fleet_at_midnight fleet;
    fleet.over_midnight();
    CHECK(fleet.both.leave("one", terms_of(midnight)) == telling_state::left);
    CHECK(fleet.ask(200, 8, midnight + 1) == "tttttttr0d own 7/12 awaited 0");
    fleet.both.compare();
}

TEST_CASE(
    "the records of a day's first hour and the one before are kept as long as the day's, when they may be needed") {
    fleet_at_midnight fleet;
    fleet.ask(0, 8, midnight - 1);
    fleet.ask(0, 1, midnight, 1s);
    const std::string hour_before_ends = std::to_string(midnight * 3600 + 7800);
    const std::string first_hour_ends = std::to_string((midnight + 1) * 3600 + 7800);
    const std::string day_ends = std::to_string((midnight + 24) * 3600 + 7800);
    claim_terms terms = terms_of(midnight);
    SECTION("of a gate that counts by the day") {
        CHECK(fleet.both.enter("one", terms, at(midnight, 2s)) == telling_state::listed);
        CHECK(fleet.expires(midnight - 1) == day_ends);
        CHECK(fleet.expires(midnight) == day_ends);
    }
    SECTION("of one that does not") {
        terms.with_day = false;
        CHECK(fleet.both.enter("one", terms, at(midnight, 2s)) == telling_state::listed);
        CHECK(fleet.expires(midnight - 1) == hour_before_ends);
        CHECK(fleet.expires(midnight) == first_hour_ends);
        CHECK(fleet.ask(200, 3, midnight + 1) == "ttt own 3/4 awaited 0");
    }
    fleet.both.compare();
}

TEST_CASE("a day begins at once if all of the day before was counted by the same rules") {
    fleet_at_midnight fleet;
    const auto state_after = [&](std::int64_t others_until) {
        fleet.ask(0, 1, others_until, 20min, terms_of(others_until, 4));
        for (std::int64_t of = others_until + 1; of < midnight; ++of) fleet.ask(0, 1, of);
        fleet.ask(0, 1, midnight, 1s);
        return fleet.enter("one", midnight);
    };
    SECTION("nobody has had others") {
        fleet.ask(0, 1, midnight - 1);
        fleet.ask(0, 1, midnight, 1s);
        CHECK(fleet.enter("one", midnight) == telling_state::listed);
    }
    SECTION("others were in force until the day before began") {
        fleet.ask(0, 1, midnight - 26);
        CHECK(state_after(midnight - 26) == telling_state::listed);
    }
    SECTION("others were in force when the day before began") {
        fleet.ask(0, 1, midnight - 25);
        CHECK(state_after(midnight - 24) == telling_state::must_wait);
        fleet.ask(0, 1, midnight + 1, 1s);
        CHECK(fleet.enter("one", midnight + 1) == telling_state::listed);
    }
    SECTION("others have counted, too, in the last hour before that day") {
        fleet.ask(0, 1, midnight - 25);
        CHECK(state_after(midnight - 25) == telling_state::must_wait);
    }
}

TEST_CASE("a group that may have passed in a day's first hour has its place, and takes nobody else's") {
    fleet_at_midnight fleet;
    fleet.budget = group(1);
    CHECK(fleet.ask(10, 2, midnight - 1) == "tt own 2/2 awaited 0");
    fleet.budget = everything();
    fleet.ask(0, 1, midnight, 1s);
    CHECK(fleet.enter("one", midnight) == telling_state::listed);
    fleet.budget = group(2);
    CHECK(fleet.ask(20, 1, midnight + 1) == "t own 1/1 awaited 0");
    fleet.budget = group(3);
    CHECK(fleet.ask(30, 1, midnight + 1) == "t shared 1/1 awaited 0");
    fleet.budget = group(1);
    CHECK(fleet.ask(10, 4, midnight + 1) == "tttr0d own 3/5 awaited 0");
    fleet.both.compare();
}

TEST_CASE("a day's record has nothing of groups that have been refused") {
    fleet_at_midnight fleet;
    fleet.over_midnight();
    const auto ask = [&](std::uint64_t number, std::uint64_t series) {
        fleet.budget = group(number);
        return fleet.ask(series, 1, midnight + 1);
    };
    CHECK(ask(1, 210) == "t own 1/1 awaited 0");
    for (std::uint64_t i = 0; i < 3; ++i) CHECK(ask(2 + i, 220 + i).starts_with("t shared"));
    const auto record = [&] { return fleet.both.store().fields(fleet.both.store().keys().day(midnight / 24)); };
    CHECK(ask(5, 225) == "r0d shared 3/3 awaited 0");
    const auto before = record();
    for (std::uint64_t i = 0; i < 10; ++i) CHECK(ask(6 + i, 230 + i) == "r0d shared 3/3 awaited 0");
    CHECK(record() == before);
    fleet.both.compare();
}

TEST_CASE("where the records are gone there is no more room in the day") {
    fleet_at_midnight fleet;
    fleet.over_midnight();
    const std::int64_t gone = midnight - GENERATE(0, 1);
    claim_store& store = fleet.both.store();
    const auto answer_of = [&](std::uint64_t series, std::int64_t of) {
        const claim asked{.fingerprints = {fingerprint_of(series)},
                          .runs = {{.series = 1, .budgets = {0}}},
                          .budgets = {fleet.budget}};
        claim_terms terms = terms_of(of);
        terms.buckets = store.decide(asked, terms, at(of)).windows.buckets;
        return store.decide(asked, terms, at(of)).series.front();
    };
    answer_of(100, midnight + 1);  // has opened the hour, and this budget's part is in the count
    CHECK(answer_of(200, midnight + 1).outcome == claim_outcome::taken);
    CHECK(store.connection().number({"DEL", store.keys().hour(gone)}) == 1);
    fleet.budget.id = 2;
    CHECK(answer_of(200, midnight + 2).outcome == claim_outcome::taken);  // the day knows it
    const series_answer newcomer = answer_of(201, midnight + 2);
    CHECK(newcomer.outcome == claim_outcome::refused);
    CHECK(newcomer.window == refusing_window::daily);
    fleet.budget.maxima.daily = 0;
    CHECK(answer_of(202, midnight + 2).outcome == claim_outcome::taken);
}

TEST_CASE("after a loss in a day's first hour, who has not told by its end leaves no room in the day") {
    fleet_at_midnight fleet;
    fleet.over_midnight();
    const count_offer nothing;
    const recovery_words said{.gate = "a", .is_last = true, .untold = {.name = "one", .hour = midnight}};
    fleet.both.recover(said, nothing, {}, "", at(midnight, 30min));
    SECTION("if it has, the rest is kept as ever") {
        fleet.both.leave("one", terms_of(midnight));
        fleet.both.enter("two", terms_of(midnight), at(midnight, 31min));
        CHECK(fleet.ask(200, 8, midnight + 1) == "tttttttr0d own 7/12 awaited 0");
    }
    SECTION("if it has not") {
        CHECK(fleet.ask(200, 1, midnight + 1) == "r0d own 0/5 awaited 0");
        CHECK(fleet.ask(0, 4, midnight + 1) == "tttr0d own 3/5 awaited 0");
        CHECK(fleet.ask(200, 1, midnight + 24) == "t own 1/1 awaited 0");
    }
    fleet.both.compare();
}

TEST_CASE("after a loss in the first hour of a day that nothing limits, a limit that comes later has room") {
    fleet_at_midnight fleet;
    claim_terms terms = terms_of(midnight);
    terms.with_day = false;
    CHECK(fleet.ask(0, 3, midnight, 1s, terms) == "ttt own 3/0 awaited 0");
    const recovery_words said{.gate = "a", .is_last = true, .untold = {.name = "one", .hour = midnight}};
    fleet.both.recover(said, {}, {}, "", at(midnight, 30min));
    terms.hour = midnight + 1;
    CHECK(fleet.ask(0, 3, midnight + 1, 1min, terms) == "ttt own 3/0 awaited 0");
    CHECK(fleet.ask(0, 3, midnight + 2) == "ttt own 3/3 awaited 0");
    fleet.both.compare();
}

}  // namespace days_first_hour_test
