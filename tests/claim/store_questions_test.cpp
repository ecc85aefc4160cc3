// What a gate asks its store about the series of a request.
#include "claim/store_questions.hpp"

#include "claim/asking.hpp"
#include "limit/learning.hpp"
#include "support/catch.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;

TEST_CASE("series with the same budgets come together, in the order in which they stand") {
    asking gate{three_limits()};
    gate.add({{"team", "ants"}}, 0, 2)
        .add({{"team", "bees"}}, 10)
        .add({{"team", "ants"}}, 2)
        .add({{"job", "api"}, {"team", "ants"}}, 20);
    const auto calls = gate.ask();
    REQUIRE(calls.size() == 1);
    CHECK(calls[0].kind == call_kind::claim);
    CHECK(calls[0].fingerprints ==
          std::vector{fingerprint_of(0), fingerprint_of(1), fingerprint_of(2), fingerprint_of(10), fingerprint_of(20)});
    // A series without the label belongs to the group without one. Budgets are named as they come: the whole, ants,
    // no job; bees; the api.
    CHECK(calls[0].runs == runs{{.series = 3, .budgets = places{0, 1, 2}},
                                {.series = 1, .budgets = places{0, 3, 2}},
                                {.series = 1, .budgets = places{0, 1, 4}}});
    REQUIRE(calls[0].budgets.size() == 5);
    CHECK(calls[0].budgets[0].maxima == series_maxima{.hourly = 100});
    CHECK(calls[0].budgets[1].maxima == series_maxima{.hourly = 10});
    CHECK(calls[0].budgets[2].maxima == series_maxima{.hourly = 20});
}

TEST_CASE("questions say by which rules and for which hour they are") {
    limit_rules settings = three_limits();
    asking gate{settings};
    gate.add({}, 0);
    const auto described = [&gate](time_point now) {
        gate_terms terms;
        gate.ask(now);
        gate.asked.describe(terms);
        return terms;
    };
    const gate_terms first = described(at(10, 59));
    CHECK(gate.asked.hour() == hour_of(at(10)));
    CHECK(first.hour == hour_number(at(10)));
    CHECK(first.room == 100);
    CHECK(first.limits.size() == 7);  // and who shares but with the global budget
    const gate_terms next = described(at(11));
    CHECK(next.hour == hour_number(at(11)));
    CHECK(next.limits == first.limits);
    settings.limits.pop_back();
    gate.limiter.reconfigure(settings);
    CHECK(described(at(11)).limits.size() == 5);
    CHECK(gate.asked.calls()[0].runs == runs{{.series = 1, .budgets = places{0, 1}}});
}

TEST_CASE("a call has 128 series at most") {
    asking gate{three_limits()};
    SECTION("of one run") {
        gate.add({{"team", "ants"}}, 0, 300);
        const auto calls = gate.ask();
        REQUIRE(calls.size() == 3);
        CHECK(calls[0].fingerprints == fingerprints(0, 128));
        CHECK(calls[1].fingerprints == fingerprints(128, 128));
        CHECK(calls[2].fingerprints == fingerprints(256, 44));
        for (const store_call& each : calls) {
            const auto count = static_cast<std::uint32_t>(each.fingerprints.size());
            CHECK(each.runs == runs{{.series = count, .budgets = places{0, 1, 2}}});
            CHECK(each.budgets == calls[0].budgets);
        }
    }
    SECTION("exactly as many are one") {
        CHECK(gate.add({}, 0, 128).ask().size() == 1);
    }
    SECTION("of two runs, the second is split") {
        gate.add({{"team", "ants"}}, 0, 100).add({{"team", "bees"}}, 100, 50);
        const auto calls = gate.ask();
        REQUIRE(calls.size() == 2);
        CHECK(calls[0].runs ==
              runs{{.series = 100, .budgets = places{0, 1, 2}}, {.series = 28, .budgets = places{0, 3, 2}}});
        CHECK(calls[1].runs == runs{{.series = 22, .budgets = places{0, 1, 2}}});
        CHECK(calls[1].fingerprints == fingerprints(128, 22));
        CHECK(calls[1].budgets == std::vector{calls[0].budgets[0], calls[0].budgets[3], calls[0].budgets[2]});
    }
}

TEST_CASE("a call names 240 budgets at most") {
    // The whole, two of their own for each of 119 series, and one more for each of two others: one does not fit.
    asking gate{three_limits()};
    for (std::uint64_t i = 0; i < 119; ++i) gate.add({{"job", std::to_string(i)}, {"team", std::to_string(i)}}, i);
    gate.add({{"job", "0"}, {"team", "119"}}, 119).add({{"job", "0"}, {"team", "120"}}, 120);
    const auto calls = gate.ask();
    REQUIRE(calls.size() == 2);
    CHECK(calls[0].fingerprints == fingerprints(0, 120));
    CHECK(calls[0].budgets.size() == 240);
    CHECK(calls[0].runs.back() == series_run{.series = 1, .budgets = places{0, 239, 2}});
    CHECK(calls[1].fingerprints == fingerprints(120, 1));
    CHECK(calls[1].budgets.size() == 3);
    CHECK(calls[1].budgets[0] == calls[0].budgets[0]);
}

TEST_CASE("series that the store counts in no budget are the gate's own affair") {
    limit_rules settings;
    SECTION("exempt") {
        settings = three_limits();
        settings.exempt.push_back(selecting("{team=\"ants\"}"));
    }
    SECTION("not limited") {
        settings.limits = {limit_named("teams", {"team"}, {})};
    }
    asking gate{settings};
    CHECK(gate.add({{"team", "ants"}}, 0, 3).ask().empty());
    const fleet_decision said = gate.decide();
    REQUIRE(said.pending.size() == 3);
    for (const pending_decision& each : said.pending) {
        CHECK(each.outcome == decision_outcome::unasked);
        CHECK(each.budgets.empty());
    }
}

TEST_CASE("exempt series are asked about when the exempt limit has no room") {
    limit_rules settings = three_limits();
    settings.exempt = {selecting("{team=\"ants\"}")};
    settings.exempt_series_max = 1;
    asking gate{settings};
    CHECK(gate.add({{"team", "ants"}}, 0).ask().empty());
    CHECK(gate.settle() == std::vector{verdict::admitted});
    gate.add({{"team", "ants"}}, 1);
    REQUIRE(gate.ask().size() == 1);
    CHECK(gate.asked.calls()[0].runs == runs{{.series = 1, .budgets = places{0, 1, 2}}});
}

TEST_CASE("series that limits only observe pass, and are told of with all their budgets") {
    limit_rules settings = three_limits();
    SECTION("altogether") {
        settings.mode = limit_mode::observe;
    }
    SECTION("by each limit") {
        settings.global = {};
        settings.limits[0].mode = settings.limits[1].mode = settings.tenants.mode = limit_mode::observe;
        settings.tenants.fallback.hourly = 5;
    }
    asking gate{settings};
    CHECK(gate.add({{"team", "ants"}}, 0, 3).ask().empty());
    const fleet_decision said = gate.decide();
    REQUIRE(said.pending.size() == 3);
    for (const pending_decision& each : said.pending) {
        CHECK(each.outcome == decision_outcome::passes);
        CHECK(each.budgets.size() == 3);
    }
    CHECK(gate.commit(said) == std::vector(3, verdict::admitted));
}

TEST_CASE("a limit that observes is counted, without a maximum, beside one that enforces") {
    limit_rules settings = three_limits();
    settings.limits[0].mode = limit_mode::observe;
    asking gate{settings};
    const auto calls = gate.add({{"team", "ants"}}, 0).ask();
    REQUIRE(calls.size() == 1);
    CHECK(calls[0].runs == runs{{.series = 1, .budgets = places{0, 1, 2}}});
    CHECK(calls[0].budgets[1].maxima == series_maxima{});
    CHECK(calls[0].budgets[1].overflow_maxima == series_maxima{});
    CHECK(calls[0].budgets[1].group_set != 0);
    CHECK(calls[0].budgets[2].maxima == series_maxima{.hourly = 20});
}

TEST_CASE("groups that share the overflow budget whatever their number name it once") {
    limit_rules settings = three_limits();
    settings.limits.pop_back();
    asking gate{settings};
    const std::string overlong(group_key_bytes_max + 1, 'x');
    gate.add({{"team", overlong}}, 0)
        .add({{"team", overlong + "y"}}, 1)
        .add({{"team", "__overflow__"}}, 2)
        .add({{"team", "ants"}}, 3);
    const auto calls = gate.ask();
    REQUIRE(calls.size() == 1);
    CHECK(calls[0].runs == runs{{.series = 3, .budgets = places{0, 1}}, {.series = 1, .budgets = places{0, 2}}});
    CHECK(calls[0].budgets[1].group_set == 0);
    CHECK(calls[0].budgets[2].group_set != 0);
    CHECK(calls[0].budgets[2].overflow_id == calls[0].budgets[1].id);
}

TEST_CASE("nobody is asked about a series that was heard of in the hour") {
    asking gate{three_limits()};
    gate.add({}, 0);
    REQUIRE(learn(gate.limiter, hour_of(at(10, 30)), fingerprints(0, 1)));
    CHECK(gate.ask().empty());
    gate.settle();
    CHECK(gate.limiter.hour_has(fingerprint_of(0)));
}

TEST_CASE("one object serves one request after the other") {
    asking gate{three_limits()};
    gate.add({{"team", "ants"}}, 0, 200).add_marker(900).ask();
    const std::vector<store_call> first{gate.asked.calls().begin(), gate.asked.calls().end()};
    gate.start();
    gate.add({{"team", "bees"}}, 300);
    REQUIRE(gate.ask().size() == 1);
    CHECK(gate.asked.calls()[0].fingerprints == fingerprints(300, 1));
    CHECK(gate.asked.calls()[0].budgets.size() == 3);
    gate.asked.shrink();
    gate.start();
    gate.add({{"team", "ants"}}, 0, 200).add_marker(900);
    const auto again = gate.ask();
    CHECK(std::vector<store_call>{again.begin(), again.end()} == first);
    gate.asked.start();
    CHECK(gate.asked.calls().empty());
    CHECK(gate.decide().pending.empty());
}
