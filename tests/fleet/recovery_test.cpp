// A store that has lost counts, by its model: what is noticed, who is waited for, what comes back.
#include "fleet/recovery.hpp"

#include <chrono>
#include <string>
#include <vector>

#include "fleet/heard_counts.hpp"
#include "fleet/store_model.hpp"
#include "support/catch.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;

namespace recovery_test {
namespace {

using namespace std::chrono_literals;

constexpr std::int64_t hour = 490'000;
constexpr std::uint64_t budget = 7, overflow = 8, limit_budgets = 9;
constexpr std::uint64_t maximum = 5;

/// The moment so long after the hour's beginning.
time_point at(std::chrono::milliseconds in_hour, std::int64_t of = hour) {
    return time_point{std::chrono::hours{of} + in_hour};
}

claim claim_of(std::vector<std::uint64_t> series) {
    claim made{.fingerprints = series, .budgets = {{.id = budget, .maxima = {.hourly = maximum}}}};
    made.runs = {{.series = static_cast<std::uint32_t>(series.size()), .budgets = {0}}};
    return made;
}

struct test_gate {
    std::string name;
    heard_counts heard{};
    std::string in{};      // the recovery that it knows of
    time_point entered{};  // since when

    /// @return how many were taken
    std::size_t claim_from(store_model& store, const std::string& server, std::vector<std::uint64_t> series,
                           time_point now) {
        const claim asked = claim_of(std::move(series));
        claim_terms terms{.hour = hour_of_moment(now), .rules = 1, .grace = 600, .server = server};
        claim_answer said = store.decide(asked, terms, now);
        if (said.status == claim_status::moved) {
            terms.buckets = said.windows.buckets;
            said = store.decide(asked, terms, now);
        }
        if (said.status != claim_status::decided) return 0;
        heard.hear(asked, terms, said);
        std::size_t taken = 0;
        for (const series_answer& each : said.series) taken += each.outcome == claim_outcome::taken;
        return taken;
    }

    recovery_answer offer_to(store_model& store, const std::string& server, time_point now,
                             std::vector<std::string> others = {}) {
        const count_offer all = heard.grown_since(0);
        const auto waited = in.empty() ? 0ms : std::chrono::duration_cast<std::chrono::milliseconds>(now - entered);
        recovery_answer answer =
            store.recover({.gate = name, .others = std::move(others), .is_last = true, .in = in, .waited = waited}, all,
                          all.budgets, server, now);
        if (answer.since != in) entered = now;
        in = answer.since;
        return answer;
    }

    static std::int64_t hour_of_moment(time_point now) {
        return std::chrono::floor<std::chrono::hours>(now.time_since_epoch()).count();
    }
};

/// A replica that lacks three of five series takes the place of its master. @return series that were ever let through
std::size_t let_through_over_a_failover(store_mutants broken) {
    store_model store{broken};
    test_gate one{.name = "one"}, other{.name = "other"};
    std::size_t passed = one.claim_from(store, "", {1, 2}, at(20min));
    const store_model replica = store;
    passed += other.claim_from(store, "", {3, 4, 5}, at(20min));
    REQUIRE(passed == maximum);
    store = replica;
    std::uint64_t next = 100;
    for (auto now = at(21min); now < at(21min + 10s); now += 250ms) {
        for (test_gate* each : {&one, &other}) {
            passed += each->claim_from(store, "promoted", {next, next + 1, next + 2}, now);
            next += 3;
            each->offer_to(store, "promoted", now, {"one", "other"});
        }
    }
    return passed;
}

}  // namespace

TEST_CASE("a replica that lacks the last writes lets nothing over the limit") {
    CHECK(let_through_over_a_failover({}) == maximum);
}

TEST_CASE("a loss that is looked for by a key alone is not noticed, for the replica has the key") {
    CHECK(let_through_over_a_failover({.any_server = true}) == maximum + 3);
}

TEST_CASE("a recovery that waits for nobody gives away what another gate knows to be taken") {
    CHECK(let_through_over_a_failover({.waits_for_nobody = true}) == maximum + 3);
}

TEST_CASE("a recovery ends after two seconds when all have offered, and after five in any case") {
    const bool all_offer = GENERATE(true, false);
    store_model store = store_model::emptied();
    test_gate one{.name = "one"}, other{.name = "other"};
    const auto is_whole_after = [&](std::chrono::milliseconds passed) {
        return one.offer_to(store, "s", at(passed), {"other"}).is_whole;
    };
    CHECK_FALSE(is_whole_after(0ms));
    if (all_offer) CHECK_FALSE(other.offer_to(store, "s", at(100ms)).is_whole);
    CHECK_FALSE(is_whole_after(1999ms));
    CHECK(is_whole_after(2000ms) == all_offer);
    CHECK(is_whole_after(4999ms) == all_offer);
    CHECK(is_whole_after(5000ms));
}

TEST_CASE("a recovery begins anew on another server") {
    store_model store = store_model::emptied();
    test_gate one{.name = "one"};
    const recovery_answer first = one.offer_to(store, "s", at(10s));
    CHECK(one.offer_to(store, "s", at(11s)) == first);
    const recovery_answer second = one.offer_to(store, "t", at(12s + 500ms));
    CHECK(second.since != first.since);
    CHECK_FALSE(second.is_whole);
    CHECK_FALSE(one.offer_to(store, "t", at(14s)).is_whole);
    CHECK(one.offer_to(store, "t", at(14s + 500ms)) == recovery_answer{.is_whole = true, .since = second.since});
    CHECK(one.offer_to(store, "t", at(15s)) == recovery_answer{.is_whole = true, .since = second.since});
}

TEST_CASE("what one gate alone has heard comes back with it, also when the counts are whole already") {
    store_model store;
    test_gate late{.name = "late"}, one{.name = "one"};
    CHECK(late.claim_from(store, "", {1, 2, 3, 4}, at(20min)) == 4);
    store = store_model::emptied();
    one.offer_to(store, "s", at(21min));
    REQUIRE(one.offer_to(store, "s", at(21min + 2s)).is_whole);
    CHECK(one.claim_from(store, "s", {11}, at(22min)) == 1);
    CHECK(store.hour().count(budget) == 1);
    CHECK(late.offer_to(store, "s", at(23min)).is_whole);
    CHECK(store.hour().count(budget) == 4);
    CHECK(one.claim_from(store, "s", {12, 13}, at(24min)) == 1);
}

TEST_CASE(
    "a gate that comes late to whole counts may have series that the sets have not, and nobody passes at once by "
    "them") {
    store_model store;
    test_gate late{.name = "late"}, one{.name = "one"};
    CHECK(late.claim_from(store, "", {1, 2}, at(20min)) == 2);
    store = store_model::emptied();
    one.offer_to(store, "s", at(21min));
    REQUIRE(one.offer_to(store, "s", at(21min + 2s)).is_whole);  // it has lost nothing that anybody knows of
    CHECK(one.claim_from(store, "s", {11, 12, 13}, at(22min)) == 3);
    const auto enters_in = [&](std::int64_t in) {
        CHECK(one.claim_from(store, "s", {11}, at(1min, in)) == 1);
        return store.enter("one/1", {.hour = in, .rules = 1, .grace = 600, .server = "s"}, at(2min, in));
    };
    SECTION("it comes") {
        CHECK(late.offer_to(store, "s", at(23min)).is_whole);
        CHECK(store.hour().count(budget) == 3);  // as many as it has heard of, and more
        CHECK(late.offer_to(store, "s", at(24min)).is_whole);
        CHECK(enters_in(hour + 1) == telling_state::must_wait);
        CHECK(enters_in(hour + 2) == telling_state::listed);
    }
    SECTION("it does not") {
        CHECK(enters_in(hour + 1) == telling_state::listed);
    }
}

TEST_CASE("in the hour after a loss room is kept for those that the store can tell from newcomers") {
    store_model store;
    test_gate one{.name = "one"};
    CHECK(one.claim_from(store, "", {1, 2, 3}, at(20min)) == 3);
    store = store_model::emptied();
    one.offer_to(store, "s", at(21min));
    REQUIRE(one.offer_to(store, "s", at(21min + 2s)).is_whole);
    CHECK(store.hour().count(budget) == 3);
    CHECK(one.claim_from(store, "s", {4, 5, 6}, at(22min)) == 2);
    // Of five that were counted two are in its set. The others have to find room, and so do newcomers.
    CHECK(one.claim_from(store, "s", {1, 2, 3, 11, 12}, at(1min, hour + 1)) == 3);
    CHECK(one.claim_from(store, "s", {4, 5}, at(2min, hour + 1)) == 2);
    CHECK(store.hour().count(budget) == maximum);
}

TEST_CASE("the largest counts that were heard are offered, of the open hour and its day") {
    heard_counts heard;
    const claim asked{.fingerprints = {},
                      .runs = {},
                      .budgets = {{.id = 1},
                                  {.id = 2, .limit_budgets = limit_budgets},
                                  {.id = 3, .limit_budgets = limit_budgets, .overflow_id = overflow},
                                  {.id = 4}}};
    const auto hear = [&](std::int64_t of, std::vector<budget_answer> budgets) {
        heard.hear(asked, {.hour = of, .rules = 5},
                   {.windows = {.hour = of, .buckets = {.hour = 4, .day = 8}}, .budgets = std::move(budgets)});
    };
    const auto offered = [&](std::uint64_t since = 0) {
        auto budgets = heard.grown_since(since).budgets;
        std::ranges::sort(budgets, {}, &offered_budget::id);
        return budgets;
    };
    using budgets = std::vector<offered_budget>;
    CHECK(offered().empty());
    hear(24, {{.hourly = 10, .daily = 20}, {.hourly = 2}, {.shares = true, .hourly = 3, .daily = 6}, {}});
    const budgets first{{1, 10, 20, 0}, {2, 2, 0, limit_budgets}, {overflow, 3, 6, 0}};
    CHECK(offered() == first);
    const std::uint64_t then = heard.grown_since(0).revision;
    hear(24, {{.hourly = 9, .daily = 21}, {.hourly = 2}, {.shares = true, .hourly = 3, .daily = 6}, {}});
    CHECK(offered(then) == budgets{{1, 10, 21, 0}});
    hear(23, {{.hourly = 99}, {}, {}, {}});
    CHECK(offered(then) == budgets{{1, 10, 21, 0}});
    hear(25, {{.hourly = 1, .daily = 22}, {}, {}, {}});
    CHECK(offered() == budgets{{1, 1, 22, 0}, {overflow, 0, 6, 0}});
    CHECK(heard.grown_since(0).hour == 25);
    CHECK(heard.grown_since(0).rules == 5);
    CHECK(heard.grown_since(0).buckets == bucket_counts{.hour = 4, .day = 8});
    hear(48, {{.hourly = 7}, {}, {}, {}});
    CHECK(offered() == budgets{{1, 7, 0, 0}});
}

TEST_CASE("the day's count is heard of an answer that comes when the feed has begun the next hour") {
    heard_counts heard;
    const auto day = static_cast<std::int64_t>(24) * 20'000;
    heard.hear_counted(day + 1, std::vector<fed_count>{{.id = budget, .series = 1}}, {});
    claim asked = claim_of({1, 2, 3});
    asked.budgets[0].limit_budgets = limit_budgets;
    claim_answer said{.status = claim_status::decided, .budgets = {{.hourly = 3, .daily = 4}}};
    said.windows.hour = day;
    heard.hear(asked, {.hour = day, .rules = 1}, said);
    CHECK(heard.grown_since(0).hour == day + 1);
    CHECK(heard.grown_since(0).budgets == std::vector<offered_budget>{{budget, 1, 4, limit_budgets}});
    heard.hear_counted(day, std::vector<fed_count>{{.id = budget, .series = 9}},
                       std::vector<fed_count>{{.id = budget, .series = 5}});
    CHECK(heard.grown_since(0).budgets == std::vector<offered_budget>{{budget, 1, 5, limit_budgets}});
    said.windows.hour = day - 1;
    said.budgets = {{.hourly = 9, .daily = 9}};
    heard.hear(asked, {.hour = day - 1, .rules = 1}, said);
    CHECK(heard.grown_since(0).budgets == std::vector<offered_budget>{{budget, 1, 5, limit_budgets}});
}

TEST_CASE("the place of a budget is known also where the feed has told its count before the answer") {
    heard_counts heard;
    const std::vector<fed_count> fed{{.id = budget, .series = 3}};
    heard.hear_counted(hour, fed, {});
    claim asked = claim_of({1, 2, 3});
    asked.budgets[0].limit_budgets = limit_budgets;
    claim_answer said{.status = claim_status::decided, .budgets = {{.hourly = 3}}};
    said.windows.hour = hour;
    heard.hear(asked, {.hour = hour, .rules = 1}, said);
    REQUIRE(heard.grown_since(0).budgets.size() == 1);
    CHECK(heard.grown_since(0).budgets[0].limit_budgets == limit_budgets);
    CHECK(heard.grown_since(0).budgets[0].hourly == 3);
}

}  // namespace recovery_test
