// What a gate asks its store about the series of a request.
#include "claim/questions.hpp"

#include "claim/asking.hpp"
#include "limit/rules.hpp"
#include "support/catch.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;

TEST_CASE("series with the same budgets come together, in the order in which they stand") {
    asking gate{three_limits()};
    gate.add({{"team", "ants"}}, 0, 2)
        .add({{"team", "bees"}}, 10)
        .add({{"team", "ants"}}, 2)
        .add({{"job", "api"}, {"team", "ants"}}, 20);
    const auto claims = gate.ask();
    REQUIRE(claims.size() == 1);
    CHECK(claims[0].fingerprints ==
          std::vector{fingerprint_of(0), fingerprint_of(1), fingerprint_of(2), fingerprint_of(10), fingerprint_of(20)});
    // A series without the label belongs to the group without one. Budgets are named as they come: the whole, ants,
    // no job; bees; the api.
    CHECK(claims[0].runs == std::vector<claim_run>{{.series = 3, .budgets = places{0, 1, 2}},
                                                   {.series = 1, .budgets = places{0, 3, 2}},
                                                   {.series = 1, .budgets = places{0, 1, 4}}});
    CHECK(claims[0].budgets.size() == 5);
    CHECK(claims[0].budgets[0].maxima == series_maxima{.hourly = 100});
    CHECK(claims[0].budgets[1].maxima == series_maxima{.hourly = 10});
    CHECK(claims[0].budgets[2].maxima == series_maxima{.hourly = 20});
    CHECK(claims[0].families.empty());  // where no series is of a histogram
}

TEST_CASE("a claim says by which rules and in which hour it is to be decided") {
    limit_rules settings = three_limits();
    settings.incumbent_grace = std::chrono::seconds{90};
    asking gate{settings};
    gate.add({}, 0);
    gate.ask(at(10, 59));
    CHECK(gate.asked.terms().hour == at(10).time_since_epoch() / std::chrono::hours{1});
    CHECK(gate.asked.terms().grace == 90);
    CHECK(gate.asked.terms().room == 100);
    CHECK(gate.asked.terms().buckets == bucket_counts{});
    const std::uint64_t before = gate.asked.terms().rules;
    gate.ask(at(11));
    CHECK(gate.asked.terms().hour == at(11).time_since_epoch() / std::chrono::hours{1});
    CHECK(gate.asked.terms().rules == before);
    settings.limits.pop_back();
    gate.limiter.reconfigure(settings);
    gate.ask(at(11));
    CHECK(gate.asked.terms().rules != before);
    CHECK(gate.asked.claims()[0].runs == std::vector<claim_run>{{.series = 1, .budgets = places{0, 1}}});
}

TEST_CASE("a claim has 128 series at most") {
    asking gate{three_limits()};
    SECTION("of one run") {
        gate.add({{"team", "ants"}}, 0, 300);
        const auto claims = gate.ask();
        REQUIRE(claims.size() == 3);
        CHECK(claims[0].fingerprints == fingerprints(0, 128));
        CHECK(claims[1].fingerprints == fingerprints(128, 128));
        CHECK(claims[2].fingerprints == fingerprints(256, 44));
        for (const claim& each : claims) {
            REQUIRE(each.runs.size() == 1);
            CHECK(each.runs[0].series == each.fingerprints.size());
            CHECK(each.runs[0].budgets == places{0, 1, 2});
            CHECK(each.budgets == claims[0].budgets);
        }
    }
    SECTION("exactly as many are one") {
        CHECK(gate.add({}, 0, 128).ask().size() == 1);
    }
    SECTION("of two runs, the second is split") {
        gate.add({{"team", "ants"}}, 0, 100).add({{"team", "bees"}}, 100, 50);
        const auto claims = gate.ask();
        REQUIRE(claims.size() == 2);
        CHECK(claims[0].runs == std::vector<claim_run>{{.series = 100, .budgets = places{0, 1, 2}},
                                                       {.series = 28, .budgets = places{0, 3, 2}}});
        CHECK(claims[1].runs == std::vector<claim_run>{{.series = 22, .budgets = places{0, 1, 2}}});
        CHECK(claims[1].fingerprints == fingerprints(128, 22));
        CHECK(claims[1].budgets == std::vector{claims[0].budgets[0], claims[0].budgets[3], claims[0].budgets[2]});
    }
}

TEST_CASE("a claim names 240 budgets at most") {
    // The whole and two of its own for every series: 240 are one and 119 times two, one does not fit.
    asking gate{three_limits()};
    for (std::uint64_t i = 0; i < 121; ++i) gate.add({{"job", std::to_string(i)}, {"team", std::to_string(i)}}, i);
    const auto claims = gate.ask();
    REQUIRE(claims.size() == 2);
    CHECK(claims[0].fingerprints == fingerprints(0, 119));
    CHECK(claims[0].budgets.size() == 239);
    CHECK(claims[0].runs.back() == claim_run{.series = 1, .budgets = places{0, 237, 238}});
    CHECK(claims[1].fingerprints == fingerprints(119, 2));
    CHECK(claims[1].budgets.size() == 5);
    CHECK(claims[1].budgets[0] == claims[0].budgets[0]);
}

TEST_CASE("nobody is asked about what no shared limit applies to") {
    limit_rules settings;
    SECTION("exempt") {
        settings = three_limits();
        settings.exempt.push_back(selecting("{team=\"ants\"}"));
    }
    SECTION("observed by each limit") {
        settings.limits.push_back(limit_each("teams", "team", {.hourly = 10}));
        settings.limits[0].mode = limit_mode::observe;
        settings.tenants.mode = limit_mode::observe;
        settings.tenants.fallback.hourly = 5;
    }
    SECTION("observed altogether") {
        settings = three_limits();
        settings.mode = limit_mode::observe;
    }
    SECTION("not limited") {
        settings.limits.push_back(limit_each("teams", "team", {}));
    }
    asking gate{settings};
    CHECK(gate.add({{"team", "ants"}}, 0, 3).ask().empty());
    const told said = gate.asked.tell({}, told_outcome::withheld);
    REQUIRE(said.pending.size() == 3);
    for (const told_series& each : said.pending) {
        CHECK(each.outcome == told_outcome::unasked);
        CHECK(each.heard.empty());
    }
}

TEST_CASE("groups that share the overflow budget whatever their number name it once") {
    limit_rules settings{.global = {.hourly = 100}};
    settings.limits.push_back(limit_each("teams", "team", {.hourly = 10}));
    asking gate{settings};
    const std::string overlong(group_key_bytes_max + 1, 'x');
    gate.add({{"team", overlong}}, 0)
        .add({{"team", overlong + "y"}}, 1)
        .add({{"team", "__overflow__"}}, 2)
        .add({{"team", "ants"}}, 3);
    const auto claims = gate.ask();
    REQUIRE(claims.size() == 1);
    CHECK(claims[0].runs ==
          std::vector<claim_run>{{.series = 3, .budgets = places{0, 1}}, {.series = 1, .budgets = places{0, 2}}});
    CHECK(claims[0].budgets[1].limit_budgets == 0);
    CHECK(claims[0].budgets[2].limit_budgets != 0);
    CHECK(claims[0].budgets[2].overflow_id == claims[0].budgets[1].id);
    CHECK(claims[0].budgets[2].overflow_maxima == series_maxima{.hourly = 10});
}

TEST_CASE("one object serves one request after the other") {
    asking gate{three_limits()};
    gate.add({{"team", "ants"}}, 0, 200).add_marker(900).ask();
    const std::vector<claim> first{gate.asked.claims().begin(), gate.asked.claims().end()};
    gate.start();
    gate.add({{"team", "bees"}}, 300);
    REQUIRE(gate.ask().size() == 1);
    CHECK(gate.asked.claims()[0].fingerprints == fingerprints(300, 1));
    CHECK(gate.asked.claims()[0].budgets.size() == 3);
    gate.asked.shrink();
    gate.start();
    gate.add({{"team", "ants"}}, 0, 200).add_marker(900);
    const auto again = gate.ask();
    CHECK(std::vector<claim>{again.begin(), again.end()} == first);
    gate.asked.start();
    CHECK(gate.asked.claims().empty());
    CHECK(gate.asked.tell({}, told_outcome::withheld).pending.empty());
}
