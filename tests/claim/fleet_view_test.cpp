// What a gate makes of what its store says: windows, counts, the room of a gate alone, and the time.
#include "claim/fleet_view.hpp"

#include <new>

#include "claim/gate_session.hpp"
#include "claim/witnessed_clock.hpp"
#include "limit/offering.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;

namespace {

constexpr std::int64_t ten = 490'010;  // an hour that is no day's first

shared_budget shared_limit(std::uint64_t id, std::uint64_t hourly, std::uint64_t daily = 0) {
    return {.id = id, .limit = 1, .maxima = {.hourly = hourly, .daily = daily}};
}

open_windows open_hour(std::int64_t hour, bool keeps_places = false) {
    return {
        .hour = hour, .generation = 1, .buckets = {.hour = 16, .day = 16, .before = 16}, .keeps_places = keeps_places};
}

/// A view of a store that has one hour open.
struct view_in_hour {
    fleet_view view;

    explicit view_in_hour(bool keeps_places = false) {
        view.begin("epoch", open_hour(ten, keeps_places));
        view.set_state(store_reach::joined);
    }
    void hear(const shared_budget& budget, const budget_in_store& counts, bool keeps_places = false) {
        view.hear(store_call{.budgets = {budget}},
                  store_answer{.windows = open_hour(ten, keeps_places), .budgets = {counts}});
    }
    std::uint64_t admitted_alone(const shared_budget& budget, std::int64_t hour = ten, std::uint64_t most = 10'000) {
        const std::array budgets{&budget};
        std::uint64_t count = 0;
        while (count < most && view.admits_alone(budgets, hour)) ++count;
        return count;
    }
};

witnessed_clock::steady_point since_start(std::chrono::seconds since) {
    return witnessed_clock::steady_point{since};
}

}  // namespace

TEST_CASE("a gate alone admits its part of the room that was left when it last heard") {
    view_in_hour gate;
    gate.hear(shared_limit(7, 100), {.hourly = 40});
    CHECK(gate.admitted_alone(shared_limit(7, 100)) == 60);
    CHECK(gate.admitted_alone(shared_limit(7, 100)) == 0);
    view_in_hour one_of_three;
    one_of_three.hear(shared_limit(7, 100), {.hourly = 40});
    one_of_three.view.hear_gates(3);
    one_of_three.view.hear_gates(1);  // the most that were heard of in the hour
    CHECK(one_of_three.admitted_alone(shared_limit(7, 100)) == 20);
}

TEST_CASE("what a store says while it is refilled gives a gate alone no room") {
    view_in_hour gate;
    gate.view.begin("another", open_hour(ten));
    gate.view.set_state(store_reach::refilling);
    gate.hear(shared_limit(7, 100), {.hourly = 5});
    gate.view.hear(fed_call{.hour = ten, .budgets = {{.id = 7, .hourly = 6}}});
    gate.view.set_state(store_reach::away);  // before it was whole again
    gate.hear(shared_limit(7, 100), {.hourly = 5});
    CHECK(gate.admitted_alone(shared_limit(7, 100)) == 0);
    gate.view.set_state(store_reach::joined);
    gate.hear(shared_limit(7, 100), {.hourly = 90});
    CHECK(gate.admitted_alone(shared_limit(7, 100)) == 10);
}

TEST_CASE("a gate alone keeps the places of the hour before, and has no room where nothing was heard") {
    view_in_hour gate{true};
    gate.hear(shared_limit(7, 100), {.hourly = 40, .kept = 50}, true);
    CHECK(gate.admitted_alone(shared_limit(7, 100)) == 10);
    CHECK(gate.admitted_alone(shared_limit(8, 100)) == 0);
    CHECK(gate.admitted_alone(shared_limit(7, 100), ten + 1) == 0);
    gate.hear(shared_limit(9, 100), {.hourly = 1, .kept = all_kept}, true);
    CHECK(gate.admitted_alone(shared_limit(9, 100)) == 0);
}

TEST_CASE("a gate alone asks all budgets of a series, in the hour and in the day") {
    view_in_hour gate;
    gate.hear(shared_limit(7, 100), {.hourly = 97});
    gate.hear(shared_limit(8, 100, 50), {.hourly = 1, .daily = 48});
    const shared_budget one = shared_limit(7, 100);
    const shared_budget other = shared_limit(8, 100, 50);
    const std::array both{&one, &other};
    CHECK(gate.view.admits_alone(both, ten));
    CHECK(gate.view.admits_alone(both, ten));
    CHECK_FALSE(gate.view.admits_alone(both, ten));
    CHECK(gate.admitted_alone(one) == 1);
}

TEST_CASE("a gate alone remembers a bounded number of budgets, and forgets those of the day before") {
    view_in_hour gate;
    gate.hear(shared_limit(7, 100), {.hourly = 10});
    for (std::uint64_t id = 1000; id < 1000 + fleet_view::counts_max + 10; ++id) {
        const shared_budget observed{.id = id};
        REQUIRE(gate.admitted_alone(observed, ten, 1) == 1);
    }
    CHECK(gate.admitted_alone(shared_limit(7, 100)) == 0);
    gate.view.begin("epoch", open_hour(ten + 24));
    gate.view.hear(store_call{.budgets = {shared_limit(7, 100)}},
                   store_answer{.windows = open_hour(ten + 24), .budgets = {{.hourly = 10}}});
    CHECK(gate.admitted_alone(shared_limit(7, 100), ten + 24) == 90);
}

TEST_CASE("answers that come late change no later hour, and none of another store") {
    view_in_hour gate;
    gate.view.begin("epoch", open_hour(ten + 1));
    gate.view.hear(open_hour(ten));
    CHECK(gate.view.windows().hour == ten + 1);
    open_windows lost = open_hour(ten + 5);
    lost.generation = 2;
    gate.view.hear(lost);
    CHECK(gate.view.windows().hour == ten + 1);
    gate.view.begin("epoch", lost);
    CHECK(gate.view.windows().hour == ten + 5);
}

TEST_CASE("a heartbeat's answer that a call's has overtaken begins no hour twice") {
    view_in_hour gate;
    gate.view.follows_feed(true);
    gate.hear(shared_limit(7, 100), {.hourly = 101});
    gate.view.hear(open_hour(ten + 1));
    gate.view.begin("epoch", open_hour(ten));
    CHECK(gate.view.windows().hour == ten + 1);
    gate.view.hear(open_hour(ten + 1));
    gate.view.follows_feed(true);
    CHECK(gate.view.is_over_full(shared_limit(7, 100), ten + 1) == over_full::yes);
}

TEST_CASE("which budgets were over-full is known when the feed was read to its end in the new hour") {
    view_in_hour gate;
    gate.hear(shared_limit(7, 100), {.hourly = 101});
    CHECK(gate.view.is_over_full(shared_limit(7, 100), ten) == over_full::unknown);
    gate.view.follows_feed(true);
    gate.view.begin("epoch", open_hour(ten + 1));
    CHECK(gate.view.is_over_full(shared_limit(7, 100), ten + 1) == over_full::unknown);
    gate.view.follows_feed(true);
    CHECK(gate.view.is_over_full(shared_limit(7, 100), ten + 1) == over_full::yes);
    CHECK(gate.view.is_over_full(shared_limit(7, 101), ten + 1) == over_full::no);
    CHECK(gate.view.is_over_full(shared_limit(8, 100), ten + 1) == over_full::no);
    CHECK(gate.view.is_over_full(shared_limit(7, 100), ten) == over_full::unknown);
}

TEST_CASE("in a day's first hour a budget is over-full by its day as well, and in no other hour") {
    for (const std::int64_t hour : {ten + 1, (ten / 24 + 1) * 24}) {
        CAPTURE(hour);
        fleet_view view;
        view.begin("epoch", open_hour(hour - 1));
        view.set_state(store_reach::joined);
        view.hear(store_call{.budgets = {shared_limit(7, 100, 40)}},
                  store_answer{.windows = open_hour(hour - 1), .budgets = {{.hourly = 50}}});
        view.follows_feed(true);
        view.begin("epoch", open_hour(hour));
        view.follows_feed(true);
        const bool is_days_first = hour % 24 == 0;
        CHECK(view.is_over_full(shared_limit(7, 100, 40), hour) == (is_days_first ? over_full::yes : over_full::no));
        CHECK(view.is_over_full(shared_limit(7, 100, 50), hour) == over_full::no);
        CHECK(view.is_over_full(shared_limit(7, 100), hour) == over_full::no);
    }
}

TEST_CASE("which budgets were over-full is not known if there were more than are remembered") {
    view_in_hour gate;
    for (std::uint64_t id = 1; id <= fleet_view::counts_max + 1; ++id)
        gate.hear(shared_limit(id, 100), {.hourly = 101});
    gate.view.follows_feed(true);
    gate.view.begin("epoch", open_hour(ten + 1));
    gate.view.follows_feed(true);
    CHECK(gate.view.is_over_full(shared_limit(fleet_view::counts_max + 1, 100), ten + 1) == over_full::unknown);
}

TEST_CASE("a gate that missed a part of the hour before reads its record") {
    view_in_hour gate;
    gate.view.follows_feed(false);
    gate.view.begin("epoch", open_hour(ten + 1));
    gate.view.follows_feed(true);
    CHECK(gate.view.is_over_full(shared_limit(7, 100), ten + 1) == over_full::unknown);
    const std::vector<std::pair<std::uint64_t, std::uint64_t>> record{{7, 101}};
    gate.view.hear_record(record, ten + 1, &fleet_view::budget_counts::before);
    CHECK(gate.view.is_over_full(shared_limit(7, 100), ten + 1) == over_full::yes);
}

TEST_CASE("a gate has told when nothing is untold and no request accepts any more") {
    view_in_hour gate;
    const auto clean = [] { return true; };
    {
        const auto accepting = gate.view.accept(ten);
        CHECK(accepting);
        CHECK_FALSE(gate.view.say_told(ten, clean));
    }
    CHECK(gate.view.accept(ten));
    CHECK_FALSE(gate.view.say_told(ten, [] { return false; }));
    CHECK(gate.view.accept(ten));
    CHECK(gate.view.say_told(ten, clean));
    CHECK_FALSE(gate.view.accept(ten));
    CHECK(gate.view.accept(ten + 1));
}

TEST_CASE("a gate that could not look whether it has told goes on to accept") {
    fleet_view view;
    CHECK_THROWS(view.say_told(ten, []() -> bool { throw std::bad_alloc{}; }));
    CHECK(view.accept(ten));
}

TEST_CASE("answers from before a loss are waited for") {
    view_in_hour gate;
    auto asking = gate.view.ask(0);
    CHECK_FALSE(gate.view.has_earlier_answers(0));
    CHECK(gate.view.has_earlier_answers(1));
    asking = {};
    CHECK_FALSE(gate.view.has_earlier_answers(1));
}

TEST_CASE("the fleet's time goes on by itself, and a store that leaps is not believed") {
    witnessed_clock clock;
    CHECK(clock.now(since_start(0s), at(12, 0)) == at(12, 0));
    REQUIRE(clock.correct(at(12, 0, 3), -1, since_start(0s), at(12, 0)));
    CHECK(clock.now(since_start(3600s), at(5, 0)) == at(13, 0, 3));
    for (const auto leap : {-90min, 5min, 60min, 24 * 60min}) {
        CHECK_FALSE(clock.correct(at(12, 1) + leap, -1, since_start(57s), at(12, 1)));
        CHECK(clock.now(since_start(60s), at(12, 1)) == at(12, 1, 3));
    }
    CHECK(clock.correct(at(12, 2), -1, since_start(120s), at(12, 2)));
}

TEST_CASE("the fleet's time never steps back by less than two minutes, and believes two clocks against one") {
    witnessed_clock clock;
    REQUIRE(clock.correct(at(12, 0), -1, since_start(0s), at(12, 0)));
    REQUIRE(clock.correct(at(11, 58, 30), -1, since_start(0s), at(12, 0)));
    CHECK(clock.now(since_start(10s), at(12, 0)) == at(12, 0));
    CHECK(clock.now(since_start(100s), at(12, 1, 40)) == at(12, 0, 10));
    CHECK(clock.correct(at(9, 0), -1, since_start(100s), at(9, 0)));  // it began by a wrong one
    CHECK(clock.now(since_start(100s), at(9, 0)) == at(9, 0));
}

TEST_CASE("an hour that another gate has opened a little early has begun") {
    witnessed_clock clock;
    const std::int64_t hour = hour_number(at(12, 0));
    REQUIRE(clock.correct(at(11, 59, 57), hour, since_start(0s), at(11, 59, 57)));
    CHECK(clock.now(since_start(0s), at(11, 59, 57)) == at(12, 0));
}

TEST_CASE("a loss is news until the gate has begun to tell all again") {
    fleet_view view;
    const time_point now = at(12, 30);
    gate_session session{view, {.name = "a", .version = "1", .fingerprints = "f"}, false, now, 600s};
    const gate_session::clocks at{.steady = since_start(0s), .own = now};
    const auto hear = [&](const char* epoch) {
        open_windows open = open_hour(hour_number(now));
        open.now = now;
        return session.take_answer({.state = {.windows = open, .epoch = epoch}, .gates = {{.name = "a"}}}, at);
    };
    CHECK(hear("first") == gate_session::news::none);  // it has nothing to tell
    for (int times = 0; times < 2; ++times) {          // memory may run out in between
        CHECK(hear("second") == gate_session::news::lost_data);
        session.has_refilled();
        CHECK(view.state() == store_reach::refilling);
    }
    session.begins_refill();
    CHECK(hear("second") == gate_session::news::none);
    CHECK(view.state() == store_reach::refilling);
    session.has_refilled();
    CHECK(hear("second") == gate_session::news::none);
    CHECK(view.state() == store_reach::joined);
}

TEST_CASE("a gate that begins before a store with a wrong clock says by how much") {
    fleet_view view;
    const time_point now = at(12, 30);
    gate_session session{view, {.name = "a", .version = "1", .fingerprints = "f"}, false, now, 600s};
    open_windows open = open_hour(hour_number(now));
    open.now = now + 10min;
    const heartbeat_answer said{.state = {.windows = open, .epoch = "first", .ahead = -10min}};
    CHECK(session.take_answer(said, {.steady = since_start(5s), .own = now}) == gate_session::news::wrong_clock);
    CHECK(view.clock.offset(since_start(65s), now + 60s) == 10min);
    CHECK_FALSE(view.clock.has_heard());
}

TEST_CASE("a gate that begins with series tells them, and the store is not refilled for that") {
    fleet_view view;
    const time_point now = at(10, 5);
    gate_session session{view, {.name = "a", .version = "1", .fingerprints = "f"}, true, now, 600s};
    open_windows open = open_hour(hour_number(now));
    open.now = now;
    const heartbeat_answer said{.state = {.windows = open, .epoch = "first"}};
    CHECK(session.take_answer(said, {.steady = since_start(0s), .own = now}) == gate_session::news::lost_data);
    CHECK(view.state() == store_reach::joined);
}

TEST_CASE("a gate that began after the grace says in a refill that it has told; another one waits for its end") {
    const auto [began, says_so] = GENERATE(table<time_point, bool>({{at(12, 20), true}, {at(12, 5), false}}));
    fleet_view view;
    gate_session session{view, {.name = "a", .version = "1", .fingerprints = "f"}, true, began, 600s};
    const gate_session::clocks now{.steady = since_start(0s), .own = at(12, 30)};
    open_windows open = open_hour(hour_number(now.own));
    open.now = now.own;
    const heartbeat_answer said{.state = {.windows = open, .epoch = "first", .is_refilling = true}};
    CHECK(session.take_answer(said, now) == gate_session::news::lost_data);
    const auto has_told = [&](bool is_clean) {
        return session.next({.at = now, .grace = 600s, .is_clean = [is_clean] { return is_clean; }}).is_told;
    };
    session.begins_refill();
    CHECK_FALSE(has_told(true));
    session.has_refilled();
    CHECK_FALSE(has_told(false));
    CHECK(view.state() == store_reach::refilling);
    CHECK(has_told(true) == says_so);
}

TEST_CASE("that places have lapsed a gate says to a store that has lost that with its data, in that hour") {
    fleet_view view;
    gate_session session{view, {.name = "a", .version = "1", .fingerprints = "f"}, false, at(12, 5), 600s};
    const auto says_so = [&](const char* epoch, std::int64_t hour, bool are_kept, bool is_loss = false,
                             std::chrono::hours later = 0h) {
        const gate_session::clocks now{.steady = since_start(later), .own = at(12, 30) + later};
        open_windows open = open_hour(hour);
        open.now = now.own;
        open.buckets.before = 1;
        open.keeps_places = are_kept;
        const store_state heard{.windows = open, .epoch = epoch, .is_refilling = is_loss};
        static_cast<void>(session.take_answer({.state = heard}, now));
        session.begins_refill();
        session.has_refilled();
        return session.next({.at = now, .grace = 600s, .is_clean = [] { return true; }}).has_lapsed;
    };
    const std::int64_t hour = hour_number(at(12, 0));
    CHECK_FALSE(says_so("first", hour, true));
    CHECK(says_so("first", hour, false));
    CHECK(says_so("second", hour, true, true));
    CHECK_FALSE(says_so("third", hour - 1, true, true));  // what the store has is an hour old
    CHECK(says_so("third", hour, true, true));
    SECTION("but not in the next") {
        CHECK_FALSE(says_so("third", hour + 1, true, false, 1h));
    }
    SECTION("but not to another store, which has lost nothing") {
        CHECK_FALSE(says_so("others", hour, true));
    }
}

TEST_CASE("a gate that knows from its state that places have lapsed says so to a store that is refilled, to no other") {
    const bool is_loss = GENERATE(true, false);
    const time_point now = at(12, 30);
    fleet_view view;
    gate_session session{view, {.name = "a", .version = "1", .fingerprints = "f"}, true, now, 600s, hour_number(now)};
    const gate_session::clocks clocks{.steady = since_start(0s), .own = now};
    open_windows open = open_hour(hour_number(now));
    open.now = now;
    open.buckets.before = 1;
    open.keeps_places = true;
    const heartbeat_answer said{.state = {.windows = open, .epoch = "first", .is_refilling = is_loss}};
    static_cast<void>(session.take_answer(said, clocks));
    session.begins_refill();
    session.has_refilled();
    CHECK(session.next({.at = clocks, .grace = 600s, .is_clean = [] { return true; }}).has_lapsed == is_loss);
    CHECK(session.lapsed_hour() == (is_loss ? hour_number(now) : -1));
}
