// Histograms that are admitted whole or not at all.
#include "limit/figures.hpp"
#include "limit/histogram_keys.hpp"
#include "limit/histograms.hpp"
#include "support/catch.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;

namespace {

series_list reversed(series_list of) {
    std::ranges::reverse(of);
    return of;
}

}  // namespace

TEST_CASE("a histogram that begins with the last room is admitted whole, and counted") {
    histogram_offering gate{whole(100), at(10)};
    gate.accept(gauges(0, 97), at(10));
    SECTION("in any order") {
        CHECK(gate.accept(GENERATE(latency(1), reversed(latency(1))), at(10)) == 12);
    }
    SECTION("over several requests") {
        CHECK(gate.accept(part(latency(1), 0, 2), at(10)) == 2);
        CHECK(gate.accept(part(latency(1), 2, 5), at(10, 1)) == 5);
        CHECK(gate.accept(part(latency(1), 7, 5), at(10, 59)) == 5);
    }
    SECTION("with other series between, and every series twice") {
        CHECK(gate.accept(joined(part(latency(1), 0, 3), gauges(500, 5)), at(10)) == 3);
        CHECK(gate.accept(joined(latency(1), joined(gauges(500, 5), latency(1))), at(10)) == 24);
    }
    CHECK(gate.hourly() == counts{.current = 109, .over_limit = 9});
    CHECK(gate.daily() == counts{.current = 109, .over_limit = 0});
    CHECK(gate.hourly(tenant_id("")).series_current == 109);

    CHECK(gate.accept(joined(latency(2), gauges(900, 1)), at(10)) == 0);
    CHECK(gate.accept(latency(1), at(10)) == 12);
    CHECK(gate.hourly() == counts{.current = 109, .over_limit = 9});
}

TEST_CASE("without the option the limit is exact to the series") {
    limit_rules settings = whole(100);
    settings.whole_histograms = false;
    histogram_offering gate{settings, at(10)};
    gate.accept(gauges(0, 97), at(10));
    CHECK(gate.accept(latency(1), at(10)) == 3);
    CHECK(gate.hourly() == counts{.current = 100, .over_limit = 0});
    CHECK(gate.labels.asked == 0);
}

TEST_CASE("the overshoot is what was missing of the histograms that had begun") {
    histogram_offering gate{whole(50), at(10)};
    for (int pod = 0; pod < 70; ++pod) gate.accept(part(latency(pod), 0, 1), at(10));
    CHECK(gate.hourly() == counts{.current = 50, .over_limit = 0});
    std::uint64_t accepted = 0;
    for (int round = 0; round < 3; ++round)
        for (int pod = 0; pod < 70; ++pod) accepted += gate.accept(latency(pod), at(10, round));
    CHECK(accepted == 3 * 50 * 12);
    CHECK(gate.hourly() == counts{.current = 50 * 12, .refused = 20 * 12, .over_limit = 50 * 11});
}

TEST_CASE("a histogram has an end: a label le that explodes does not pass the limits") {
    histogram_offering gate{whole(1), at(10)};
    series_list buckets;
    for (int i = 0; i < 3'000; ++i) buckets.push_back(named("latency_bucket", {{"le", std::to_string(i)}}));
    CHECK(gate.accept(buckets, at(10)) == 1 + completing_series_max);
    CHECK(gate.accept(buckets, at(10)) == 1 + completing_series_max);
    CHECK(gate.hourly().series_over_limit == completing_series_max);
}

TEST_CASE("a histogram that was refused is refused whole, though a series of it would find room") {
    limit_rules settings = whole(0);
    settings.limits = {limit_named("buckets", {}, {.hourly = 10, .daily = 0}, "{le!=\"\"}")};
    histogram_offering gate{settings, at(10)};
    CHECK(gate.accept(latency(1), at(10)) == 12);
    SECTION("in one request, wherever the sum stands") {
        CHECK(gate.accept(GENERATE(latency(2), reversed(latency(2))), at(10)) == 0);
    }
    SECTION("in several") {
        CHECK(gate.accept(part(latency(2), 0, 1), at(10)) == 0);
        CHECK(gate.accept(part(latency(2), 10, 2), at(10, 1)) == 0);
        CHECK(gate.accept(part(latency(2), 1, 9), at(10, 2)) == 0);
    }
    CHECK(gate.accept(gauges(0, 5), at(10)) == 5);
    CHECK(gate.hourly() == counts{.current = 17, .refused = 12});
    CHECK(gate.hourly({.limit = "buckets"}).series_refused == 10);

    settings.limits[0].maxima.hourly = 11;  // room again
    gate.limiter.reconfigure(settings);
    CHECK(gate.accept(reversed(latency(2)), at(10)) == 12);
    CHECK(gate.hourly({.limit = "buckets"}).series_current == 20);
    CHECK(gate.hourly().series_over_limit == 9);
}

TEST_CASE("all of a refused histogram have the window and the answer of the first") {
    limit_rules settings = whole(0);
    settings.limits = {limit_named("buckets", {}, {.hourly = 0, .daily = 10}, "{le!=\"\"}")};
    settings.limits[0].answer = limit_answer::reject;
    histogram_offering gate{settings, at(10)};
    gate.accept(latency(1), at(10));
    gate.accept(part(latency(2), 0, 1), at(10));
    gate.accept(latency(2), at(10));
    CHECK(gate.verdicts == std::vector<verdict>(12, verdict::refused_daily_told));
    CHECK(gate.daily().samples_refused == 13);
}

TEST_CASE("a histogram begun in one budget is completed in all, and each has its true count") {
    limit_rules settings = whole(100);
    settings.tenants.fallback = {.hourly = 5, .daily = 0};
    settings.limits = {limit_named("buckets", {}, {.hourly = 4, .daily = 0}, "{le!=\"\"}"),
                       limit_named("watch", {}, {.hourly = 3, .daily = 0}, "{le!=\"\"}")};
    settings.limits[1].mode = limit_mode::observe;
    histogram_offering gate{settings, at(10)};
    CHECK(gate.accept(latency(1), at(10), "t") == 12);
    CHECK(gate.hourly().series_current == 12);
    CHECK(gate.hourly(tenant_id("t")) == counts{.current = 12, .refused = 0});
    CHECK(gate.hourly({.limit = "buckets"}).series_current == 10);
    CHECK(gate.hourly({.limit = "watch"}) == counts{.current = 3, .refused = 7});
    CHECK(gate.hourly().series_over_limit == 8);  // two of them over both
    CHECK(gate.accept(latency(2), at(10), "t") == 0);
}

TEST_CASE("what observes refuses nothing, and no histogram is over a limit") {
    limit_rules settings = whole(5);
    settings.mode = limit_mode::observe;
    histogram_offering gate{settings, at(10)};
    CHECK(gate.accept(joined(latency(1), latency(2)), at(10)) == 24);
    CHECK(gate.hourly() == counts{.current = 5, .refused = 19, .over_limit = 0});
}

TEST_CASE("what is exempt neither begins a histogram nor is refused with one") {
    limit_rules settings = whole(5);
    settings.exempt = {selecting("{__name__=~\".+_sum\"}")};
    histogram_offering gate{settings, at(10)};
    gate.accept(gauges(0, 5), at(10));
    CHECK(gate.accept(part(latency(1), 10, 1), at(10)) == 1);
    CHECK(gate.accept(latency(1), at(10)) == 1);
    CHECK(gate.accept(latency(2), at(10)) == 1);
    CHECK(gate.hourly().series_current == 5);
}

TEST_CASE("a name alone makes no histogram") {
    histogram_offering gate{whole(2), at(10)};
    SECTION("buckets without a bound") {
        const series_list fishes{named("ice_bucket", {{"size", "1"}}), named("ice_bucket", {{"size", "2"}}),
                                 named("ice_bucket", {{"size", "3"}})};
        CHECK(gate.accept(fishes, at(10)) == 2);
    }
    SECTION("counters called _count are families of one") {
        const series_list counters{named("a_count"), named("b_count"), named("c_count")};
        CHECK(gate.accept(counters, at(10)) == 2);
        CHECK(gate.accept(counters, at(10)) == 2);
    }
    SECTION("two label sets are two histograms") {
        CHECK(gate.accept(
                  {named("a_sum", {{"pod", "1"}}), named("a_sum", {{"pod", "2"}}), named("a_count", {{"pod", "3"}})},
                  at(10)) == 2);
    }
    CHECK(gate.hourly().series_over_limit == 0);
}

TEST_CASE("equal histograms of two tenants are two") {
    limit_rules settings = whole(0);
    settings.tenants.fallback = {.hourly = 1, .daily = 0};
    settings.tenants.overrides = {{"full", {.hourly = 3, .daily = 0}}};
    histogram_offering gate{settings, at(10)};
    gate.accept(gauges(0, 3), at(10), "full");
    CHECK(gate.accept(latency(1), at(10), "a") == 12);
    CHECK(gate.accept(latency(1), at(10), "full") == 0);
    CHECK(gate.accept(latency(1), at(10), "b") == 12);
}

TEST_CASE("stale markers neither begin nor complete a histogram") {
    histogram_offering gate{whole(1), at(10)};
    CHECK(gate.accept(part(latency(1), 0, 1), at(10)) == 1);
    gate.accept(latency(1), at(9, 59));  // fills what is offered; the rest of it is known now
    for (auto& each : gate.offered) each.admits = false;
    CHECK(gate.decide({}, at(10)).accepted == 12);
    gate.accept(latency(2), at(10));
    for (auto& each : gate.offered) each.admits = false;
    CHECK(gate.decide({}, at(10)).refused_unknown == 12);
    CHECK(gate.hourly().series_current == 12);
}

TEST_CASE("known and refused series of histograms take no lock, and nobody looks at their labels") {
    histogram_offering gate{whole(15), at(10)};
    const series_list sent = joined(latency(1), joined(latency(2), latency(3)));
    CHECK(gate.accept(sent, at(10)) == 24);
    const auto commits = figures_of(gate.limiter).commits;
    const auto asked = gate.labels.asked;
    for (int minute = 1; minute < 5; ++minute) CHECK(gate.accept(sent, at(10, minute)) == 24);
    CHECK(figures_of(gate.limiter).commits == commits);
    CHECK(gate.labels.asked == asked);
}
