// What a claim is answered, rule by rule: by the script in a real store and by the model.
#include <string>
#include <utility>
#include <vector>

#include "fleet/store_and_model.hpp"
#include "support/catch.hpp"
#include "support/fingerprints.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;

namespace claim_rules_test {
namespace {

using namespace std::chrono_literals;

constexpr std::int64_t hour = first_hour + 12;  // noon
constexpr std::uint64_t whole = 1;

time_point at(std::int64_t of, std::chrono::nanoseconds in_hour) {
    return time_point{std::chrono::hours{of}} + in_hour;
}

claim_terms terms_of(std::int64_t of) {
    return {.hour = of, .rules = 1, .grace = 600, .with_day = true, .room = 1000, .day_room = 1000};
}

std::vector<std::uint64_t> series(std::uint64_t first, std::uint64_t count) {
    std::vector<std::uint64_t> all;
    for (std::uint64_t i = first; i < first + count; ++i) all.push_back(fingerprint_of(i));
    return all;
}

/// Of one run with all of these budgets.
claim claim_of(std::vector<std::uint64_t> fingerprints, std::vector<claimed_budget> budgets, bool look = false) {
    claim_run run{.series = static_cast<std::uint32_t>(fingerprints.size()), .look = look};
    for (std::size_t i = 0; i < budgets.size(); ++i) run.budgets.push_back(static_cast<std::uint8_t>(i));
    return {.fingerprints = std::move(fingerprints), .runs = {std::move(run)}, .budgets = std::move(budgets)};
}

claimed_budget limited(std::uint64_t id, series_maxima maxima) {
    return {.id = id, .maxima = maxima};
}

/// One letter a series, and for those refused the place of the budget and the window.
std::string outcomes(const claim_answer& answer) {
    std::ostringstream text;
    for (const series_answer& is : answer.series) text << is;
    return text.str();
}

std::string budgets(const claim_answer& answer) {
    std::ostringstream text;
    for (const budget_answer& is : answer.budgets) text << is << "; ";
    return text.str();
}

}  // namespace

TEST_CASE("a series is taken once, and known from then on to all gates and in the same claim") {
    store_and_model both;
    const auto asked = claim_of({7, 8, 7}, {limited(whole, {.hourly = 10, .daily = 20})});
    const claim_answer first = both.ask(asked, terms_of(hour), at(hour, 20min));
    CHECK(outcomes(first) == "ttk");
    CHECK(budgets(first) == "own 2/2 awaited 0; ");
    const claim_answer second = both.ask(asked, terms_of(hour), at(hour, 21min));
    CHECK(outcomes(second) == "kkk");
    CHECK(budgets(second) == "own 2/2 awaited 0; ");
    both.compare();
}

TEST_CASE("a series without room in one of its budgets is taken in none") {
    store_and_model both;
    const std::vector<claimed_budget> three{limited(1, {.hourly = 100}), limited(2, {.hourly = 3}),
                                            limited(3, {.hourly = 2})};
    const claim_answer answer = both.ask(claim_of(series(0, 4), three), terms_of(hour), at(hour, 20min));
    CHECK(outcomes(answer) == "ttr2hr2h");
    CHECK(budgets(answer) == "own 2/2 awaited 0; own 2/2 awaited 0; own 2/2 awaited 0; ");
    both.compare();
}

TEST_CASE("the first budget without room is named, and of its windows the hour") {
    store_and_model both;
    const claim_terms terms = terms_of(hour);
    const auto ask = [&](series_maxima first, series_maxima second) {
        const auto asked = claim_of({fingerprint_of(99)}, {limited(1, first), limited(2, second)});
        return outcomes(both.ask(asked, terms, at(hour, 20min)));
    };
    both.ask(claim_of(series(0, 5), {limited(1, {}), limited(2, {})}), terms, at(hour, 20min));
    CHECK(ask({.hourly = 5, .daily = 5}, {.hourly = 5, .daily = 5}) == "r0h");
    CHECK(ask({.hourly = 6, .daily = 5}, {.hourly = 5, .daily = 5}) == "r0d");
    CHECK(ask({.hourly = 6, .daily = 6}, {.hourly = 5, .daily = 5}) == "r1h");
    CHECK(ask({.hourly = 6}, {.daily = 5}) == "r1d");
    CHECK(ask({.hourly = 6, .daily = 6}, {.hourly = 6, .daily = 6}) == "t");
}

TEST_CASE("what a budget of 0 counts is not limited") {
    store_and_model both;
    const claim_answer answer = both.ask(claim_of(series(0, 128), {limited(1, {})}), terms_of(hour), at(hour, 20min));
    CHECK(budgets(answer) == "own 128/128 awaited 0; ");
}

TEST_CASE("runs of one claim share their budgets' room") {
    store_and_model both;
    claim asked{
        .fingerprints = series(0, 6),
        .runs = {{.series = 2, .budgets = {0, 1}}, {.series = 2, .budgets = {0, 2}}, {.series = 2, .budgets = {0, 1}}},
        .budgets = {limited(1, {.hourly = 5}), limited(2, {.hourly = 3}), limited(3, {.hourly = 9})}};
    const claim_answer answer = both.ask(asked, terms_of(hour), at(hour, 20min));
    CHECK(outcomes(answer) == "tttttr0h");
    CHECK(budgets(answer) == "own 5/5 awaited 0; own 3/3 awaited 0; own 2/2 awaited 0; ");
}

TEST_CASE("in the grace room is kept for the series of the hour before") {
    store_and_model both;
    const std::vector<claimed_budget> budget{limited(whole, {.hourly = 10})};
    const claim_terms terms = terms_of(hour + 1);
    both.ask(claim_of(series(0, 8), budget), terms_of(hour), at(hour, 20min));

    const claim_answer newcomers = both.ask(claim_of(series(100, 4), budget), terms, at(hour + 1, 1s));
    CHECK(outcomes(newcomers) == "ttr0hr0h");
    CHECK(budgets(newcomers) == "own 2/10 awaited 8; ");
    const claim_answer incumbents = both.ask(claim_of(series(0, 3), budget), terms, at(hour + 1, 2s));
    CHECK(outcomes(incumbents) == "ttt");
    CHECK(budgets(incumbents) == "own 5/10 awaited 5; ");

    SECTION("until all are back") {
        CHECK(outcomes(both.ask(claim_of(series(3, 5), budget), terms, at(hour + 1, 3s))) == "ttttt");
        CHECK(outcomes(both.ask(claim_of(series(102, 1), budget), terms, at(hour + 1, 3s))) == "r0h");
    }
    SECTION("until it is over, to the microsecond") {
        const claim late = claim_of(series(102, 6), budget);
        CHECK(outcomes(both.ask(late, terms, at(hour + 1, 10min - 1us))) == "r0hr0hr0hr0hr0hr0h");
        const claim_answer after = both.ask(late, terms, at(hour + 1, 10min));
        CHECK(outcomes(after) == "tttttr0h");
        CHECK(budgets(after) == "own 10/15 awaited 0; ");
        CHECK(outcomes(both.ask(claim_of(series(3, 1), budget), terms, at(hour + 1, 11min))) == "r0h");
    }
    both.compare();
}

TEST_CASE("a series that the day knows takes no room of the day") {
    store_and_model both;
    const std::vector<claimed_budget> budget{limited(whole, {.daily = 4})};
    both.ask(claim_of(series(0, 4), budget), terms_of(hour), at(hour, 20min));
    const claim_answer later = both.ask(claim_of(series(3, 3), budget), terms_of(hour + 2), at(hour + 2, 20min));
    CHECK(outcomes(later) == "tr0dr0d");
    CHECK(budgets(later) == "own 1/4 awaited 0; ");
    both.compare();
}

TEST_CASE("a gate that limits no day asks and counts none") {
    store_and_model both;
    claim_terms terms = terms_of(hour);
    terms.with_day = false;
    const claim_answer answer =
        both.ask(claim_of(series(0, 3), {limited(whole, {.hourly = 2})}), terms, at(hour, 20min));
    CHECK(outcomes(answer) == "ttr0h");
    CHECK(budgets(answer) == "own 2/0 awaited 0; ");
    CHECK(answer.windows.buckets.day == 0);
    both.compare();
}

TEST_CASE("in the first hour of a day its room is kept for incumbents, too") {
    store_and_model both;
    const std::int64_t midnight = first_hour + 24;
    const std::vector<claimed_budget> budget{limited(whole, {.daily = 5})};
    both.ask(claim_of(series(0, 4), budget), terms_of(midnight - 1), at(midnight - 1, 20min));
    const claim_terms terms = terms_of(midnight);
    CHECK(outcomes(both.ask(claim_of(series(10, 2), budget), terms, at(midnight, 1s))) == "tr0d");
    CHECK(outcomes(both.ask(claim_of(series(0, 4), budget), terms, at(midnight, 2s))) == "tttt");
    CHECK(outcomes(both.ask(claim_of(series(11, 1), budget), terms, at(midnight, 3s))) == "r0d");
    const claim_terms next = terms_of(midnight + 1);
    CHECK(outcomes(both.ask(claim_of(series(0, 1), budget), next, at(midnight + 1, 1s))) == "t");
    both.compare();
}

TEST_CASE("an hour is opened five seconds before it begins, and that closes the one before") {
    store_and_model both;
    const claim asked = claim_of(series(0, 1), {limited(whole, {.hourly = 5})});
    CHECK(both.ask(asked, terms_of(hour), at(hour, 59min)).status == claim_status::decided);
    CHECK(both.ask(asked, terms_of(hour + 1), at(hour, 1h - 5s - 1us)).status == claim_status::closed);
    CHECK(both.told().hour == hour);
    const claim_answer opened = both.ask(asked, terms_of(hour + 1), at(hour, 1h - 5s));
    CHECK(opened.status == claim_status::decided);
    CHECK(opened.windows.hour == hour + 1);
    CHECK(opened.windows.buckets == bucket_counts{.hour = 4, .day = 4, .before = 4});
    const claim_answer late = both.ask(asked, terms_of(hour), at(hour, 1h - 4s));
    CHECK(late.status == claim_status::closed);
    CHECK(late.windows ==
          store_windows{.now = at(hour, 1h - 4s), .hour = hour + 1, .buckets = {.hour = 4, .day = 4, .before = 4}});
    CHECK(late.series.empty());
    CHECK(both.ask(asked, terms_of(hour + 1), at(hour, 1h - 3s)).status == claim_status::decided);
}

TEST_CASE("an hour that is over is not opened, but goes on while nobody opens the next") {
    store_and_model both;
    const claim asked = claim_of(series(0, 1), {});
    CHECK(both.ask(asked, terms_of(hour - 1), at(hour, 0s)).status == claim_status::closed);
    CHECK(both.told().hour == -1);
    CHECK(both.ask(asked, terms_of(hour - 1), at(hour, -1us)).status == claim_status::decided);
    CHECK(both.ask(asked, terms_of(hour - 1), at(hour, 20min)).status == claim_status::decided);
}

TEST_CASE("after an hour that nobody opened there are no incumbents") {
    store_and_model both;
    const std::vector<claimed_budget> budget{limited(whole, {.hourly = 4})};
    both.ask(claim_of(series(0, 4), budget), terms_of(hour), at(hour, 1min));
    const claim_answer answer = both.ask(claim_of(series(10, 5), budget), terms_of(hour + 2), at(hour + 2, 1s));
    CHECK(outcomes(answer) == "ttttr0h");
    CHECK(answer.windows.buckets.before == 0);
}

TEST_CASE("a gate with other numbers of buckets is told the right ones, and takes nothing") {
    store_and_model both;
    const claim asked = claim_of(series(0, 2), {limited(whole, {.hourly = 5})});
    both.ask(asked, terms_of(hour), at(hour, 1min));
    claim_terms terms = terms_of(hour + 1);
    const auto status_with = [&](bucket_counts buckets, std::chrono::seconds in_hour) {
        terms.buckets = buckets;
        return both.decide(asked, terms, at(hour + 1, in_hour)).status;
    };
    CHECK(status_with({.hour = 4, .day = 4, .before = 0}, 1s) == claim_status::moved);
    CHECK(status_with({.hour = 4, .day = 4, .before = 8}, 1s) == claim_status::moved);
    CHECK(status_with({.hour = 2, .day = 4, .before = 4}, 1s) == claim_status::moved);
    CHECK(status_with({.hour = 4, .day = 0, .before = 4}, 1s) == claim_status::moved);
    CHECK(both.store().fields(both.store().keys().hour(hour + 1)).count("members") == 0);
    CHECK(status_with({.hour = 4, .day = 4, .before = 4}, 1s) == claim_status::decided);
    CHECK(status_with({.hour = 4, .day = 4, .before = 0}, 600s) == claim_status::decided);
    both.compare();
}

TEST_CASE("a window is made for what its limits let come, and for a quarter more than the last") {
    store_and_model both;
    claim_terms terms = terms_of(hour);
    const auto buckets_with = [&](std::uint64_t room, std::int64_t of) {
        terms.hour = of;
        terms.room = room;
        return both.ask({}, terms, at(of, 1min)).windows.buckets.hour;
    };
    CHECK(buckets_with(1, hour) == 1);
    CHECK(buckets_with(256, hour + 1) == 1);
    CHECK(buckets_with(257, hour + 2) == 2);
    CHECK(buckets_with(0, hour + 3) == 4096);
    CHECK(buckets_with(1'000'000'000, hour + 4) == 65'536);
    for (const std::uint64_t first : {0u, 100u}) {
        const claim asked = claim_of(series(first, first == 0 ? 100 : 105), {});
        both.ask(asked, terms, at(hour + 4, 2min));
    }
    CHECK(both.store().fields(both.store().keys().hour(hour + 4)).at("members") == "205");
    CHECK(buckets_with(1, hour + 5) == 2);  // 256.25
}

TEST_CASE("where another rule was in force in the hour before, all room is kept for incumbents") {
    store_and_model both;
    const std::vector<claimed_budget> budget{limited(whole, {.hourly = 10})};
    both.ask(claim_of(series(0, 2), budget), terms_of(hour), at(hour, 20min));
    claim_terms other = terms_of(hour + 1);

    SECTION("the asking gate's is new") {
        other.rules = 2;
    }
    SECTION("two were") {
        claim_terms mixing = terms_of(hour);
        mixing.rules = 2;
        both.ask({}, mixing, at(hour, 30min));
    }
    const claim_answer answer = both.ask(claim_of(series(1, 2), budget), other, at(hour + 1, 1s));
    CHECK(outcomes(answer) == "tr0h");
    CHECK(answer.budgets.front().awaited == all_awaited);
    const claim_answer after = both.ask(claim_of(series(2, 1), budget), other, at(hour + 1, 10min));
    CHECK(outcomes(after) == "t");
    CHECK(budgets(after) == "own 2/3 awaited 0; ");
    both.compare();
}

namespace {

/// Group `number` of a limit with two places of its own.
claimed_budget group(std::uint64_t number) {
    return {.id = 100 + number,
            .maxima = {.hourly = 2},
            .limit_budgets = 7,
            .places_max = 2,
            .overflow_id = 9,
            .overflow_maxima = {.hourly = 3}};
}

}  // namespace

TEST_CASE("beyond so many budgets of a shelf, they share one") {
    store_and_model both;
    const auto ask = [&](std::uint64_t number, std::uint64_t first, std::uint64_t count, std::int64_t of,
                         std::chrono::seconds in_hour) {
        return both.ask(claim_of(series(first, count), {group(number)}), terms_of(of), at(of, in_hour));
    };
    CHECK(budgets(ask(1, 10, 1, hour, 20min)) == "own 1/1 awaited 0; ");
    CHECK(budgets(ask(2, 20, 3, hour, 20min)) == "own 2/2 awaited 0; ");
    CHECK(budgets(ask(3, 30, 2, hour, 20min)) == "shared 2/2 awaited 0; ");
    const claim_answer fourth = ask(4, 40, 2, hour, 20min);
    CHECK(outcomes(fourth) == "tr0h");
    CHECK(budgets(fourth) == "shared 3/3 awaited 0; ");

    SECTION("in the next hour they keep what they had") {
        const claim_answer kept = ask(1, 10, 2, hour + 1, 1s);
        CHECK(outcomes(kept) == "tt");
        CHECK(budgets(kept) == "own 2/2 awaited 0; ");
        CHECK(budgets(ask(3, 30, 1, hour + 1, 1s)) == "shared 1/3 awaited 2; ");
    }
    SECTION("on the next day those of the last hour have one, and others open theirs") {
        const std::int64_t midnight = first_hour + 24;
        ask(1, 10, 1, midnight - 1, 1min);
        CHECK(budgets(ask(1, 10, 1, midnight, 1s)) == "own 1/1 awaited 0; ");
        CHECK(budgets(ask(5, 50, 1, midnight, 1s)) == "own 1/1 awaited 0; ");
        CHECK(budgets(ask(6, 60, 1, midnight, 1s)) == "own 1/1 awaited 0; ");
        CHECK(budgets(ask(8, 80, 1, midnight, 1s)) == "shared 1/1 awaited 0; ");
    }
    both.compare();
}

TEST_CASE("groups of one claim do not take the same last place") {
    store_and_model both;
    claim asked{.fingerprints = {10, 20, 30, 40},
                .runs = {{.series = 1, .budgets = {0}},
                         {.series = 1, .budgets = {1}},
                         {.series = 1, .budgets = {2}},
                         {.series = 1, .budgets = {3}}},
                .budgets = {group(1), group(2), group(3), group(4)}};
    const claim_answer answer = both.ask(asked, terms_of(hour), at(hour, 20min));
    CHECK(outcomes(answer) == "tttt");
    CHECK(budgets(answer) == "own 1/1 awaited 0; own 1/1 awaited 0; shared 2/2 awaited 0; shared 2/2 awaited 0; ");
    CHECK(both.store().fields(both.store().keys().day(day_of_hour(hour))).at("p7") == "2");
    both.compare();
}

TEST_CASE("a budget that had no place in the hour before is kept for those that shared it") {
    store_and_model both;
    const claim_terms terms = terms_of(first_hour + 23);
    for (const std::uint64_t number : {1u, 2u, 3u})
        both.ask(claim_of(series(10 * number, 1), {group(number)}), terms, at(terms.hour, 1min));
    const claim_terms next = terms_of(first_hour + 24);
    const claim_answer answer = both.ask(claim_of(series(30, 2), {group(3)}), next, at(next.hour, 1s));
    CHECK(outcomes(answer) == "tr0h");
    CHECK_FALSE(answer.budgets.front().shares);
    CHECK(answer.budgets.front().awaited == all_awaited);
}

TEST_CASE("a refusal opens no place") {
    store_and_model both;
    claim asked = claim_of(series(0, 1), {limited(whole, {.hourly = 1}), group(1)});
    both.ask(claim_of(series(9, 1), {limited(whole, {.hourly = 1})}), terms_of(hour), at(hour, 20min));
    for (const std::uint64_t number : {1u, 2u, 3u}) {
        asked.budgets[1] = group(number);
        const claim_answer answer = both.ask(asked, terms_of(hour), at(hour, 20min));
        CHECK(outcomes(answer) == "r0h");
        CHECK(budgets(answer) == "own 1/1 awaited 0; own 0/0 awaited 0; ");
    }
    both.compare();
}

TEST_CASE("who only looks takes nothing, and knows the day and the hour before") {
    store_and_model both;
    both.ask(claim_of({1}, {}), terms_of(hour), at(hour, 20min));
    both.ask(claim_of({2}, {}), terms_of(hour + 1), at(hour + 1, 20min));
    both.ask(claim_of({3}, {}), terms_of(hour + 2), at(hour + 2, 20min));
    claim_terms terms = terms_of(hour + 2);
    const claim looking = claim_of({1, 2, 3, 4, 4}, {limited(whole, {.hourly = 1})}, true);
    const claim_answer answer = both.ask(looking, terms, at(hour + 2, 30min));
    CHECK(outcomes(answer) == "kkkuu");
    CHECK(budgets(answer) == "own 0/0 awaited 0; ");
    terms.with_day = false;
    CHECK(outcomes(both.ask(looking, terms, at(hour + 2, 30min))) == "ukkuu");
    both.compare();
}

TEST_CASE("fingerprints of all sizes are whole, and their sets compact") {
    store_and_model both;
    claim_terms terms = terms_of(hour);
    terms.room = terms.day_room = 1;
    std::vector<std::uint64_t> all{
        0, 1, ~0ull, ~0ull - 1, 1ull << 63, (1ull << 63) - 1, (1ull << 53) + 1, (1ull << 53) + 2};
    for (const std::uint64_t fingerprint : series(0, 120)) all.push_back(fingerprint);
    CHECK(outcomes(both.ask(claim_of(all, {}), terms, at(hour, 1min))) == std::string(128, 't'));
    CHECK(outcomes(both.ask(claim_of(all, {}), terms, at(hour, 1min))) == std::string(128, 'k'));
    for (const std::string& record : {both.store().keys().hour(hour), both.store().keys().day(hour / 24)}) {
        CHECK(both.store().connection().text({"OBJECT", "ENCODING", record + ":0"}) == "intset");
        CHECK(both.store().connection().text({"OBJECT", "ENCODING", record}) == "hashtable");
    }
    both.compare();
}

}  // namespace claim_rules_test
