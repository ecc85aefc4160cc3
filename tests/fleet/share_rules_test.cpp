// Who has a share of what claims leave, and what claims leave: by the scripts in a real store and by the model.
#include <string>
#include <utility>
#include <vector>

#include "fleet/store_and_model.hpp"
#include "support/catch.hpp"
#include "support/fingerprints.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;

namespace share_rules_test {
namespace {

using namespace std::chrono_literals;
using numbered = std::pair<share_state, std::uint64_t>;

constexpr std::int64_t noon = first_hour + 12;
constexpr std::uint64_t whole = 1;

time_point at(std::int64_t of, std::chrono::nanoseconds in_hour = 20min) {
    return time_point{std::chrono::hours{of}} + in_hour;
}

claim_terms terms_of(std::int64_t of, std::uint64_t all_rules = 7) {
    return {.hour = of,
            .rules = 1,
            .all_rules = all_rules,
            .grace = 600,
            .with_day = true,
            .reserve = 500,
            .room = 1000,
            .day_room = 1000};
}

/// Series of one budget, that at most 3,200 may have: 160 are left to sixteen shares of 10.
struct scene {
    store_and_model both;
    series_maxima maxima{.hourly = 3200};
    std::uint64_t family = 0;  // of the series that are claimed, where histograms are kept whole

    claim claim_of(std::uint64_t first, std::uint32_t count) const {
        claim made{.budgets = {{.id = whole, .maxima = maxima}}};
        for (std::uint64_t i = first; i < first + count; ++i) made.fingerprints.push_back(fingerprint_of(i));
        made.runs.push_back({.series = count, .budgets = {0}});
        if (family != 0) made.families.assign(count, family);
        return made;
    }
    /// @return how many were taken
    std::uint64_t claims(std::uint64_t first, std::uint64_t count, const claim_terms& terms, time_point now) {
        std::uint64_t taken = 0;
        for (std::uint64_t at = 0; at < count; at += claimed_series_max) {
            const auto some = static_cast<std::uint32_t>(std::min<std::uint64_t>(claimed_series_max, count - at));
            const claim_answer answer = both.ask(claim_of(first + at, some), terms, now);
            REQUIRE(answer.status == claim_status::decided);
            for (const series_answer& each : answer.series) taken += each.outcome == claim_outcome::taken;
        }
        return taken;
    }
    numbered share(const std::string& gate, const claim_terms& terms, time_point now) {
        return both.share(gate, terms, now);
    }
};

}  // namespace

TEST_CASE("the first sixteen gates of a day have a share, and each run of a gate is another one") {
    scene fleet;
    const claim_terms terms = terms_of(noon);
    CHECK(fleet.share("a", terms, at(noon)) == numbered{share_state::not_now, 0});  // nobody has opened the hour
    fleet.claims(0, 1, terms, at(noon));
    for (std::uint64_t i = 0; i < 16; ++i)
        CHECK(fleet.share("gate-" + std::to_string(i), terms, at(noon)) == numbered{share_state::of_day, i + 1});
    CHECK(fleet.share("gate-3", terms, at(noon)) == numbered{share_state::of_day, 4});
    CHECK(fleet.share("gate-16", terms, at(noon)) == numbered{share_state::none_left, 0});
    const claim_terms next = terms_of(noon + 1);
    fleet.claims(0, 1, next, at(noon + 1));
    CHECK(fleet.share("gate-3", terms, at(noon + 1)) == numbered{share_state::not_now, 0});
    CHECK(fleet.share("gate-15", next, at(noon + 1)) == numbered{share_state::of_day, 16});
    CHECK(fleet.share("gate-16", next, at(noon + 1)) == numbered{share_state::none_left, 0});
    const claim_terms tomorrow = terms_of(noon + 12);
    fleet.claims(0, 1, tomorrow, at(noon + 12));
    CHECK(fleet.share("gate-16", tomorrow, at(noon + 12)) == numbered{share_state::of_day, 1});
    const std::string key = fleet.both.store().keys().shares(noon / 24);
    CHECK(fleet.both.store().connection().number({"EXPIRETIME", key}) == (noon / 24 + 1) * 86'400 + 7'200);
}

TEST_CASE("there are no shares in a window in which claims have not left them alone") {
    scene fleet;
    fleet.claims(0, 1, terms_of(noon), at(noon));
    CHECK(fleet.share("a", terms_of(noon, 8), at(noon)) == numbered{share_state::not_now, 0});
    CHECK(fleet.share("a", terms_of(noon), at(noon)) == numbered{share_state::of_day, 1});
    fleet.claims(1, 1, terms_of(noon, 8), at(noon));
    CHECK(fleet.share("b", terms_of(noon), at(noon)) == numbered{share_state::not_now, 0});
    // It takes an hour to see that nobody has other rules, and a day to have one without them.
    const auto asked_at = [&](std::int64_t hour, std::uint64_t all_rules) {
        fleet.claims(1, 1, terms_of(hour, all_rules), at(hour));
        return fleet.share("b", terms_of(hour, all_rules), at(hour));
    };
    CHECK(asked_at(noon + 1, 7) == numbered{share_state::not_now, 0});
    CHECK(asked_at(noon + 2, 7) == numbered{share_state::of_hour, 2});
    CHECK(asked_at(noon + 12, 7) == numbered{share_state::of_day, 1});
    CHECK(asked_at(noon + 13, 8) == numbered{share_state::not_now, 0});
    CHECK(asked_at(noon + 14, 8) == numbered{share_state::of_hour, 1});
}

TEST_CASE("a server that has lost counts gives no share of that hour and the next, nor of that day") {
    scene fleet;
    fleet.claims(0, 1, terms_of(noon), at(noon));
    fleet.both.empty();
    recovery_words said{.gate = "a", .is_last = true};
    const count_offer offer{
        .hour = noon, .rules = 1, .buckets = {.hour = 4, .day = 4}, .budgets = {{.id = whole, .hourly = 9}}};
    const recovery_answer begun = fleet.both.recover(said, offer, offer.budgets, "other", at(noon));
    said.in = begun.since;
    said.waited = 5s;
    REQUIRE(fleet.both.recover(said, offer, offer.budgets, "other", at(noon)).is_whole);
    const auto asked_at = [&](std::int64_t hour) {
        claim_terms terms = terms_of(hour);
        terms.server = "other";
        fleet.claims(0, 1, terms, at(hour));
        return fleet.share("b", terms, at(hour));
    };
    CHECK(asked_at(noon) == numbered{share_state::not_now, 0});
    CHECK(asked_at(noon + 1) == numbered{share_state::not_now, 0});
    CHECK(asked_at(noon + 2) == numbered{share_state::of_hour, 1});
    CHECK(asked_at(noon + 12) == numbered{share_state::of_day, 1});
}

TEST_CASE("where a recovery has opened the hour, it takes another one to see that nobody has other rules") {
    scene fleet;
    fleet.claims(0, 1, terms_of(noon), at(noon));
    const recovery_words said{.gate = "a", .is_last = true};
    const count_offer offer{
        .hour = noon + 1, .rules = 1, .buckets = {.hour = 4, .day = 4}, .budgets = {{.id = whole, .hourly = 9}}};
    REQUIRE(fleet.both.recover(said, offer, offer.budgets, "", at(noon + 1)).is_whole);
    fleet.claims(1, 1, terms_of(noon + 1, 8), at(noon + 1));
    const auto asked_at = [&](std::int64_t hour) {
        fleet.claims(2, 1, terms_of(hour), at(hour));
        return fleet.share("b", terms_of(hour), at(hour));
    };
    CHECK(asked_at(noon + 2) == numbered{share_state::not_now, 0});
    CHECK(asked_at(noon + 3) == numbered{share_state::of_hour, 1});
}

TEST_CASE("claims stop where shares begin, and what came out of a share has its place there") {
    scene fleet;
    const bool by_day = GENERATE(false, true);
    if (by_day) fleet.maxima = {.hourly = 0, .daily = 3200};
    CHECK(fleet.claims(0, 3300, terms_of(noon), at(noon)) == 3040);
    claim_terms owed = terms_of(noon);
    owed.owed = true;
    CHECK(fleet.claims(10'000, 200, owed, at(noon)) == 160);
    fleet.both.compare();
    CHECK(fleet.both.model().hour().count(whole) == 3200);
}

TEST_CASE("who holds nothing back claims to the end, and so do limits that are too small for a share") {
    scene fleet;
    claim_terms terms = terms_of(noon);
    terms.reserve = 0;
    CHECK(fleet.claims(0, 3300, terms, at(noon)) == 3200);
    fleet.maxima = {.hourly = 319};
    CHECK(fleet.claims(0, 400, terms_of(noon + 2), at(noon + 2)) == 319);
    fleet.maxima = {.hourly = 320};
    CHECK(fleet.claims(0, 400, terms_of(noon + 4), at(noon + 4)) == 304);
}

TEST_CASE("where something came out of shares, incumbents of the next hour wait, and those of the next day's first") {
    scene fleet;
    fleet.claims(0, 100, terms_of(noon), at(noon));
    CHECK(fleet.claims(0, 100, terms_of(noon + 1), at(noon + 1, 1min)) == 100);
    CHECK(fleet.both.enter("a", terms_of(noon + 1), at(noon + 1, 2min)) == telling_state::listed);
    fleet.both.leave("a", terms_of(noon + 1));
    claim_terms owed = terms_of(noon + 1);
    owed.owed = true;
    CHECK(fleet.claims(200, 1, owed, at(noon + 1)) == 1);
    const auto entered_at = [&](std::int64_t hour) {
        fleet.claims(0, 1, terms_of(hour), at(hour, 1min));
        const telling_state state = fleet.both.enter("a", terms_of(hour), at(hour, 2min));
        fleet.both.leave("a", terms_of(hour));
        return state;
    };
    CHECK(entered_at(noon + 2) == telling_state::must_wait);
    for (std::int64_t hour = noon + 3; hour < noon + 12; ++hour) CHECK(entered_at(hour) == telling_state::listed);
    CHECK(entered_at(noon + 12) == telling_state::must_wait);
    CHECK(entered_at(noon + 13) == telling_state::listed);
}

TEST_CASE("where completed histograms passed at once, incumbents wait in the next hour, or on the next day") {
    scene fleet;
    const bool by_day = GENERATE(false, true);
    if (by_day) fleet.maxima = {.hourly = 0, .daily = 3200};
    const std::int64_t midnight = noon + 12, next = by_day ? midnight + 24 : midnight - 2;
    const auto claim_all = [&](const claim_terms& terms, time_point now) {
        std::uint64_t taken = 0;
        fleet.family = fingerprint_of(1'000'000);
        taken += fleet.claims(10'000, 1, terms, now);
        fleet.family = 0;
        taken += fleet.claims(0, 3039, terms, now);
        fleet.family = fingerprint_of(1'000'000);
        return taken + fleet.claims(10'001, 100, terms, now);
    };
    const auto enter_at = [&](std::int64_t hour) {
        fleet.family = 0;
        fleet.claims(0, 1, terms_of(hour), at(hour, 1s));
        return fleet.both.enter("a", terms_of(hour), at(hour, 2s));
    };
    std::int64_t hour = by_day ? midnight - 1 : midnight - 4;
    CHECK(claim_all(terms_of(hour), at(hour)) == 3140);  // 100 of them have completed a histogram
    CHECK(enter_at(++hour) == telling_state::listed);
    claim_terms told = terms_of(hour);
    told.accepted = true;
    CHECK(claim_all(told, at(hour, 1min)) == 3139);  // and have places in all of the limit
    fleet.both.leave("a", told);
    CHECK(fleet.share("a", told, at(hour)).first == share_state::of_day);
    while (++hour < next) {
        CHECK(enter_at(hour) == telling_state::listed);
        fleet.both.leave("a", terms_of(hour));
    }
    // All of them and sixteen shares of 10 would be more than the limit, and none of them completes anything.
    CHECK(enter_at(next) == telling_state::must_wait);
    CHECK(claim_all(terms_of(next), at(next, 1min)) == 3139);  // 100 of them complete it anew
    const store_model::window& completed_in = by_day ? *fleet.both.model().day() : fleet.both.model().hour();
    CHECK(completed_in.completed.at(fleet.family) == 100);
    fleet.both.compare();
}

}  // namespace share_rules_test
