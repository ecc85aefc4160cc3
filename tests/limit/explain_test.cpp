// What would be decided about a series, and why.
#include "limit/explain.hpp"
#include "limit/fleet_gate.hpp"
#include "limit/histograms.hpp"
#include "limit/random_scenes.hpp"
#include "limit/snapshot_bytes.hpp"
#include "support/catch.hpp"

namespace seriesgate::testing {
namespace {

explanation explained(series_limiter& limiter, const batch& of, std::uint64_t number = 0) {
    const offered_series series{.fingerprint = fingerprint_in(of, number), .samples = 1, .admits = true};
    const auto labels = views_of(of.labels);
    shown_labels shown;
    shown.tenant = of.tenant;
    const auto made = explain_series(limiter, series, shown.family(0, labels), labels, of.tenant);
    REQUIRE(made.has_value());
    return *made;
}

/// A tenant's limit of 5 and 8, a namespace's of 3 and 4.
limit_rules narrow_rules() {
    limit_rules made;
    made.global = {.hourly = 10, .daily = 20};
    made.tenants.fallback = {.hourly = 5, .daily = 8};
    made.limits = {limit_named("per-namespace", {"namespace"}, {.hourly = 3, .daily = 4}, "{namespace=~\".+\"}")};
    return made;
}

const batch in_a{.tenant = "red", .labels = {{"namespace", "a"}}, .count = 3};

TEST_CASE("a series that nobody has sent would be admitted, and its budgets are not there yet") {
    labelled_offering gate{narrow_rules(), at(10)};
    const std::string before = saved(gate.limiter);
    const explanation of = explained(gate.limiter, in_a);
    CHECK_FALSE(of.in_hour);
    CHECK_FALSE(of.in_day);
    CHECK_FALSE(of.in_hour_before.has_value());
    CHECK_FALSE(of.refused.has_value());
    CHECK_FALSE(of.exempt);
    CHECK_FALSE(of.asks_store);
    CHECK(of.hour == hour_of(at(10)));
    REQUIRE(of.budgets.size() == 3);
    CHECK(of.budgets[0].exists);
    CHECK(of.budgets[0].hourly_room == 10u);
    CHECK_FALSE(of.budgets[1].exists);
    CHECK(of.budgets[1].figures.name.tenant == "red");
    CHECK(of.budgets[1].hourly_room == 5u);
    CHECK(of.budgets[1].daily_room == 8u);
    CHECK_FALSE(of.budgets[2].exists);
    CHECK(of.budgets[2].figures.name.limit == "per-namespace");
    CHECK(of.budgets[2].figures.name.group == group_labels{{"namespace", "a"}});
    CHECK(of.budgets[2].figures.hourly.series_max == 3);
    CHECK(of.budgets[2].daily_room == 4u);
    CHECK(saved(gate.limiter) == before);
}

TEST_CASE("a known series is known, whatever its budgets say") {
    labelled_offering gate{narrow_rules(), at(10)};
    gate.offer(in_a, at(10));
    const explanation of = explained(gate.limiter, in_a, 2);
    CHECK(of.in_hour);
    CHECK(of.in_day);
    CHECK_FALSE(of.refused.has_value());
    REQUIRE(of.budgets.size() == 3);
    CHECK(of.budgets[2].exists);
    CHECK(of.budgets[2].figures.hourly.series_current == 3);
    CHECK(of.budgets[2].hourly_room == 0u);
    CHECK(of.budgets[2].daily_room == 1u);
    CHECK(of.budgets[2].spent == in_windows{.hour = true, .day = false});
    CHECK(of.budgets[0].hourly_room == 7u);
    CHECK(gate.limiter.limit_name(of.budgets[0].limit) == "global");
    CHECK(gate.limiter.limit_name(of.budgets[1].limit) == "tenant");
    CHECK(gate.limiter.limit_name(of.budgets[2].limit) == "per-namespace");
}

TEST_CASE("a newcomer is refused by the first budget without room, the hour's before the day's, and that is known") {
    labelled_offering gate{narrow_rules(), at(10)};
    gate.offer(in_a, at(10));
    explanation of = explained(gate.limiter, in_a, 7);
    REQUIRE(of.refused.has_value());
    CHECK(gate.limiter.limit_name(of.refused->limit) == "per-namespace");
    CHECK(window_of(of.refused->how) == refusing_window::hourly);
    CHECK_FALSE(of.refused_lately.has_value());
    // It has not come: nobody has refused it, and asking has not either.
    CHECK(figures_of(gate.limiter).hourly.series_refused == 0);

    gate.offer({.tenant = "red", .labels = in_a.labels, .first = 7}, at(10));
    of = explained(gate.limiter, in_a, 7);
    REQUIRE(of.refused_lately.has_value());
    CHECK(of.refused == of.refused_lately);
    CHECK(gate.limiter.limit_name(of.refused->limit) == "per-namespace");

    gate.limiter.maintain(at(11, 30));  // the day has room for one of this namespace
    gate.offer({.tenant = "red", .labels = in_a.labels, .first = 7}, at(11, 30));
    of = explained(gate.limiter, in_a, 8);
    REQUIRE(of.refused.has_value());
    CHECK(window_of(of.refused->how) == refusing_window::daily);
    CHECK(of.budgets[2].hourly_room == 2u);
    CHECK(of.budgets[2].daily_room == 0u);
}

TEST_CASE("a series of the hour before is an incumbent while room is kept for it") {
    labelled_offering gate{narrow_rules(), at(10)};
    gate.offer(in_a, at(10));
    gate.limiter.maintain(at(11));
    explanation of = explained(gate.limiter, in_a, 0);
    CHECK_FALSE(of.in_hour);
    CHECK(of.in_day);
    CHECK(of.in_hour_before == true);
    CHECK(of.is_incumbent);
    CHECK(of.budgets[2].hourly_room == 3u);
    CHECK_FALSE(of.refused.has_value());
    // Nobody else gets that room.
    of = explained(gate.limiter, in_a, 9);
    CHECK_FALSE(of.is_incumbent);
    CHECK(of.in_hour_before == false);
    CHECK(of.budgets[2].hourly_room == 0u);
    REQUIRE(of.refused.has_value());
    gate.limiter.maintain(at(11, 10));
    CHECK_FALSE(explained(gate.limiter, in_a, 0).is_incumbent);
    CHECK(explained(gate.limiter, in_a, 9).budgets[2].hourly_room == 3u);
}

TEST_CASE("a value too long for a budget of its own is the overflow budget's, also where that is not there yet") {
    labelled_offering gate{narrow_rules(), at(10)};
    const explanation of = explained(gate.limiter, {.labels = {{"namespace", std::string(10'000, 'x')}}});
    REQUIRE(of.budgets.size() == 3);
    CHECK_FALSE(of.budgets[2].exists);
    CHECK(of.budgets[2].figures.name.overflow);
    CHECK(of.budgets[2].hourly_room == 3u);
}

TEST_CASE("a group is written alike in the log and in figures") {
    for (const std::string value : {"C:\\temp", "tab\tx", "quo\"te", "\xff"}) {
        const budget_name name{.limit = "l", .tenant = {}, .group = {{"namespace", readable(value)}}};
        CHECK(cut_group_text(name) == group_text(name));
    }
}

TEST_CASE("beyond maxGroups a series is the overflow budget's, also where that is not there yet") {
    limit_rules rules = narrow_rules();
    rules.limits[0].groups_max = 2;
    rules.limits[0].overrides = {{{{"namespace", "__overflow__"}}, {.hourly = 2, .daily = 2}}};
    labelled_offering gate{rules, at(10)};
    for (const char* space : {"a", "b"}) gate.offer({.labels = {{"namespace", space}}}, at(10));
    const explanation of = explained(gate.limiter, {.labels = {{"namespace", "c"}}});
    REQUIRE(of.budgets.size() == 3);
    CHECK_FALSE(of.budgets[2].exists);
    CHECK(of.budgets[2].figures.name.overflow);
    CHECK(of.budgets[2].hourly_room == 2u);
}

TEST_CASE("an exempt series has a budget of its own, and those of others where that has no room") {
    limit_rules rules = narrow_rules();
    rules.exempt = {selecting("{namespace=\"a\"}")};
    rules.exempt_series_max = 1;
    labelled_offering gate{rules, at(10)};
    const explanation of = explained(gate.limiter, in_a, 7);
    CHECK(of.exempt);
    CHECK_FALSE(of.beyond_exemption);
    REQUIRE(of.budgets.size() == 1);
    CHECK(of.budgets[0].figures.name.limit == "exempt");
    CHECK(of.budgets[0].hourly_room == 1u);
    CHECK_FALSE(of.refused.has_value());

    gate.offer(in_a, at(10));
    const explanation beyond = explained(gate.limiter, in_a, 7);
    CHECK(beyond.exempt);
    CHECK(beyond.beyond_exemption);
    REQUIRE(beyond.budgets.size() == 4);
    CHECK(beyond.budgets[0].hourly_room == 0u);
    CHECK(beyond.budgets[1].limit == global_limit);
}

TEST_CASE("a limit that observes has no room and refuses nothing") {
    limit_rules rules = narrow_rules();
    rules.limits[0].mode = limit_mode::observe;
    labelled_offering gate{rules, at(10)};
    gate.offer(in_a, at(10));
    const explanation of = explained(gate.limiter, in_a, 7);
    CHECK_FALSE(of.refused.has_value());
    CHECK(of.budgets[2].spent == in_windows{.hour = true, .day = false});
    CHECK(of.budgets[2].figures.mode == limit_mode::observe);
}

TEST_CASE("where histograms are kept whole, it is said what that does to a series") {
    histogram_offering gate{whole(3), at(10)};
    const auto of = [&](const label_set& labels) { return explained(gate.limiter, {.labels = labels}); };
    gate.accept(part(latency(1), 0, 3), at(10));
    const explanation completes = of(latency(1)[5]);
    CHECK(completes.whole_histograms);
    CHECK(completes.in_histogram);
    CHECK(completes.histogram_begun == in_windows{.hour = true, .day = true});
    CHECK_FALSE(completes.refused.has_value());
    CHECK(completes.completing == in_windows{.hour = true, .day = false});

    CHECK_FALSE(of(latency(2)[0]).with_histogram);
    gate.accept(part(latency(2), 0, 1), at(10));  // refused
    limit_rules wider = whole(100);
    const explanation with_others = of(latency(2)[1]);
    CHECK(with_others.with_histogram);
    REQUIRE(with_others.refused.has_value());
    CHECK(gate.limiter.limit_name(with_others.refused->limit) == "global");
    CHECK_FALSE(of(gauges(1, 1)[0]).in_histogram);
    gate.limiter.reconfigure(wider);
    CHECK_FALSE(of(latency(2)[1]).refused.has_value());
}

TEST_CASE("in a fleet the store decides what is limited, and the gate says what it knows") {
    fleet_gate gate{three_limits()};
    CHECK(explained(gate.limiter, gate.sent).asks_store);
    gate.offer(1, 1, at(10, 30), store_takes);
    const explanation known = explained(gate.limiter, gate.sent, 1);
    CHECK(known.in_hour);
    CHECK_FALSE(known.asks_store);
    const explanation next = explained(gate.limiter, gate.sent, 2);
    CHECK(next.asks_store);
    CHECK(next.budgets[0].figures.hourly.series_current == 7);  // of all gates, as heard
    CHECK(next.budgets[0].hourly_room == 3u);

    limit_rules unlimited;
    fleet_gate free{unlimited};
    CHECK_FALSE(explained(free.limiter, free.sent).asks_store);
}

TEST_CASE("what is foreseen is what is decided, under any rules and at any time") {
    const std::uint64_t seed = GENERATE(1u, 2u, 3u, 4u, 5u, 6u, 7u, 8u);
    CAPTURE(seed);
    random_numbers random{seed};
    const universe world;
    random_rules rules{random};
    limit_rules settings = rules.first();
    time_point now = at(9);
    series_limiter limiter{settings, now};
    lookup_result open;
    shown_labels labels;
    shown_labels shown;
    std::vector<offered_series> offered;
    std::vector<verdict> verdicts;
    std::uint64_t refusals = 0;
    std::uint64_t admissions = 0;
    for (int step = 0; step < 150; ++step) {
        now = random_step(now, random) + std::chrono::minutes{2};
        limiter.maintain(now);
        if (random.one_in(30)) limiter.reconfigure(settings = rules.reload(settings));
        const std::string& tenant = world.tenants[random.below(world.tenants.size())];
        world.fill(static_cast<std::size_t>(&tenant - world.tenants.data()), now, random, offered, labels);
        for (std::size_t i = 0; i < offered.size(); ++i) {
            if (!offered[i].admits) continue;
            shown.tenant = tenant;
            const auto foretold =
                explain_series(limiter, offered[i], shown.family(i, labels.entries[i]), labels.entries[i], tenant);
            REQUIRE(foretold.has_value());
            shown.entries = {labels.entries[i]};
            verdicts.assign(1, verdict::unknown);
            REQUIRE(limiter.decide({&offered[i], 1}, now, verdicts, open, {.tenant = tenant, .labels = &shown}));
            CAPTURE(step, i);
            REQUIRE((verdicts[0] == verdict::known) == foretold->in_hour);
            REQUIRE(is_refused(verdicts[0]) == foretold->refused.has_value());
            if (verdicts[0] == verdict::admitted) ++admissions;
            if (!foretold->refused) continue;
            ++refusals;
            REQUIRE(window_of(verdicts[0]) == window_of(foretold->refused->how));
            REQUIRE(open.refused_by[0] == foretold->refused->limit);
        }
    }
    CHECK(refusals + admissions > 500);
}

}  // namespace
}  // namespace seriesgate::testing
