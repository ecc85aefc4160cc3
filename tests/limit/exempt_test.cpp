// Series that are always admitted, and counted apart.
#include "limit/explain.hpp"
#include "limit/figures.hpp"
#include "limit/labelled.hpp"
#include "limit/limiter.hpp"
#include "support/catch.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;

namespace {

limit_rules two_each_but_alerts() {
    limit_rules settings{.global = {.hourly = 4, .daily = 6}};
    settings.incumbent_grace = std::chrono::seconds{0};
    settings.tenants.fallback = {.hourly = 3, .daily = 0};
    settings.limits = {limit_named("per-job", {"job"}, {.hourly = 2, .daily = 0})};
    settings.exempt = {selecting("{__name__=~\"ALERTS.*\"}"), selecting("{job=\"vital\"}")};
    return settings;
}

batch alerts(std::uint64_t first, std::uint64_t count) {
    return {.labels = {{"__name__", "ALERTS"}, {"job", "x"}}, .first = first, .count = count};
}
batch others(std::uint64_t first, std::uint64_t count) {
    return {.labels = {{"__name__", "up"}, {"job", "x"}}, .first = first, .count = count};
}

}  // namespace

TEST_CASE("exempt series pass whatever is spent, and take no room in any budget") {
    labelled_offering gate{two_each_but_alerts(), at(10)};
    CHECK(gate.accepted(alerts(0, 20), at(10)) == 20);
    CHECK(gate.accepted({.labels = {{"job", "vital"}}, .count = 7}, at(10)) == 7);
    CHECK(figures_of(gate.limiter).exempt_hourly == 27);
    CHECK(figures_of(gate.limiter).exempt_daily == 27);
    CHECK(gate.hourly().series_current == 0);
    CHECK(gate.daily().series_current == 0);
    CHECK(figures_of(gate.limiter).tenants.empty());
    CHECK(figures_of(gate.limiter).limits.empty());
    CHECK(gate.offer(others(0, 5), at(10)) == verdict_counts{.accepted = 2, .refused_hourly = 3});
    CHECK(gate.accepted(alerts(20, 5), at(10)) == 5);
    CHECK(figures_of(gate.limiter).exempt_hourly == 32);
    CHECK(gate.hourly().series_current == 2);
}

TEST_CASE("an exempt series is counted once an hour and once a day") {
    labelled_offering gate{two_each_but_alerts(), at(10)};
    for (int minute = 0; minute < 3; ++minute) gate.offer(alerts(0, 20), at(10, minute));
    gate.offer(alerts(10, 20), at(11));
    CHECK(figures_of(gate.limiter).exempt_hourly == 20);
    CHECK(figures_of(gate.limiter).exempt_daily == 30);
    leap(gate.limiter, at(0, 0, 0, 1));
    gate.offer(alerts(0, 1), at(0, 0, 0, 1));
    CHECK(figures_of(gate.limiter).exempt_hourly == 1);
    CHECK(figures_of(gate.limiter).exempt_daily == 1);
}

TEST_CASE("markers of exempt series pass, known or not") {
    labelled_offering gate{two_each_but_alerts(), at(10)};
    batch markers = alerts(0, 5);
    markers.admits = false;
    CHECK(gate.offer(markers, at(10)) == verdict_counts{.accepted = 5});
    CHECK(figures_of(gate.limiter).exempt_hourly == 0);
    markers = others(0, 5);
    markers.admits = false;
    CHECK(gate.offer(markers, at(10)) == verdict_counts{.refused_unknown = 5});
}

TEST_CASE("an explanation has nothing to say about an exempt series") {
    labelled_offering gate{two_each_but_alerts(), at(10)};
    gate.offer(others(0, 5), at(10));
    const auto said_of = [&](const batch& sent) {
        const offered_series one{.fingerprint = fingerprint_in(sent, 99), .samples = 1, .admits = true};
        const auto labels = views_of(sent.labels);
        return explain(gate.limiter, one, labels, sent.tenant).size();
    };
    CHECK(said_of(others(0, 1)) == 1);
    CHECK(said_of(alerts(0, 1)) == 0);
}

TEST_CASE("what is no longer exempt counts from its next window on, and flows until then") {
    labelled_offering gate{two_each_but_alerts(), at(10)};
    gate.offer(alerts(0, 5), at(10));
    limit_rules settings = two_each_but_alerts();
    settings.exempt.clear();
    gate.limiter.reconfigure(settings);
    CHECK(gate.offer(alerts(0, 9), at(10)) == verdict_counts{.accepted = 7, .refused_hourly = 2});
    CHECK(gate.hourly().series_current == 2);
    CHECK(figures_of(gate.limiter).exempt_hourly == 5);
    CHECK(gate.offer(alerts(0, 9), at(11)) == verdict_counts{.accepted = 2, .refused_hourly = 7});
    CHECK(figures_of(gate.limiter).exempt_hourly == 0);
    CHECK(gate.daily().series_current == 2);  // the day knows those of ten o'clock
}

TEST_CASE("what becomes exempt passes at once") {
    limit_rules settings = two_each_but_alerts();
    const auto exempt = std::exchange(settings.exempt, {});
    labelled_offering gate{settings, at(10)};
    CHECK(gate.offer(alerts(0, 9), at(10)) == verdict_counts{.accepted = 2, .refused_hourly = 7});
    settings.exempt = exempt;
    gate.limiter.reconfigure(settings);
    CHECK(gate.accepted(alerts(0, 9), at(10)) == 9);
    CHECK(figures_of(gate.limiter).exempt_hourly == 7);
    CHECK(gate.hourly().series_current == 2);
}
