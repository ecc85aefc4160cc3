// Limits that only watch: they count what they would refuse, and refuse nothing.
#include "limit/explain.hpp"
#include "limit/labelled.hpp"
#include "limit/limiter.hpp"
#include "support/catch.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;

namespace {

label_limit observed(std::string name, series_maxima maxima) {
    label_limit limit = limit_named(std::move(name), {}, maxima);
    limit.mode = limit_mode::observe;
    return limit;
}

/// One observed limit for all series.
limit_rules watching(series_maxima maxima) {
    limit_rules settings{.incumbent_grace = std::chrono::seconds{0}};
    settings.limits = {observed("watch", maxima)};
    return settings;
}

const budget_id watch{.limit = "watch"};

batch some(std::uint64_t first, std::uint64_t count) {
    return {.first = first, .count = count};
}

}  // namespace

TEST_CASE("an observed limit refuses nothing and counts what it would have refused") {
    labelled_offering gate{watching({.hourly = 5, .daily = 0}), at(10)};
    CHECK(gate.accepted(some(0, 8), at(10)) == 8);
    CHECK(gate.accepted(some(0, 8), at(10)) == 8);
    CHECK(gate.hourly(watch) == counts{.current = 5, .refused = 3});
    CHECK(gate.budget(watch).mode == limit_mode::observe);
    CHECK(gate.hourly() == counts{.current = 8, .refused = 0, .samples_refused = 0});
    CHECK(gate.accepted(some(0, 4), at(11)) == 4);
    CHECK(gate.hourly(watch) == counts{.current = 4, .refused = 0});
}

TEST_CASE("hour and day of an observed limit count independently: each takes while it has room") {
    SECTION("the hour is spent first") {
        labelled_offering gate{watching({.hourly = 5, .daily = 9}), at(10)};
        gate.offer(some(0, 8), at(10));
        CHECK(gate.hourly(watch) == counts{.current = 5, .refused = 3});
        CHECK(gate.daily(watch) == counts{.current = 8, .refused = 0});
        gate.offer(some(6, 6), at(11));  // two that the day knows, four that it does not
        CHECK(gate.hourly(watch) == counts{.current = 5, .refused = 1});
        CHECK(gate.daily(watch) == counts{.current = 9, .refused = 3});
    }
    SECTION("the day is spent first") {
        labelled_offering gate{watching({.hourly = 9, .daily = 5}), at(10)};
        gate.offer(some(0, 8), at(10));
        CHECK(gate.hourly(watch) == counts{.current = 8, .refused = 0});
        CHECK(gate.daily(watch) == counts{.current = 5, .refused = 3});
    }
}

TEST_CASE("a raised maximum takes in those that are already in beyond it") {
    labelled_offering gate{watching({.hourly = 5, .daily = 6}), at(10)};
    gate.offer(some(0, 9), at(10));
    const auto raise = [&](series_maxima maxima) {
        gate.limiter.reconfigure(watching(maxima));
        return std::pair{gate.hourly(watch).series_current, gate.daily(watch).series_current};
    };
    using counts = std::pair<std::uint64_t, std::uint64_t>;
    SECTION("step by step, hour and day each for itself") {
        CHECK(raise({.hourly = 7, .daily = 6}) == counts{7, 6});
        CHECK(raise({.hourly = 7, .daily = 7}) == counts{7, 7});
        CHECK(raise({.hourly = 20, .daily = 8}) == counts{9, 8});
        CHECK(raise({.hourly = 30, .daily = 8}) == counts{9, 8});
    }
    SECTION("all of them when the maximum is taken away") {
        CHECK(raise({.hourly = 0, .daily = 0}) == counts{9, 9});
    }
    SECTION("lowering forgets none of them") {
        CHECK(raise({.hourly = 2, .daily = 2}) == counts{5, 6});
        CHECK(raise({.hourly = 8, .daily = 8}) == counts{8, 8});
        CHECK(raise({.hourly = 9, .daily = 0}) == counts{9, 9});
    }
    SECTION("a new hour begins without any") {
        gate.offer(some(0, 3), at(11));
        CHECK(raise({.hourly = 20, .daily = 20}) == counts{3, 9});
    }
}

TEST_CASE("an observed limit that comes to enforce counts those that are in") {
    labelled_offering gate{watching({.hourly = 5, .daily = 0}), at(10)};
    gate.offer(some(0, 8), at(10));
    const auto enforce = [&](std::uint64_t hourly) {
        limit_rules settings = watching({.hourly = hourly, .daily = 0});
        settings.limits[0].mode = limit_mode::enforce;
        gate.limiter.reconfigure(settings);
    };
    SECTION("with the same maximum: no newcomer gets in") {
        enforce(5);
        CHECK(gate.offer(some(0, 9), at(10)) == verdict_counts{.accepted = 8, .refused_hourly = 1});
        CHECK(gate.hourly(watch).series_current == 5);
    }
    SECTION("with a raised maximum: as many as it leaves") {
        enforce(10);
        CHECK(gate.hourly(watch).series_current == 8);
        CHECK(gate.offer(some(0, 20), at(10)) == verdict_counts{.accepted = 10, .refused_hourly = 10});
        CHECK(gate.hourly(watch).series_current == 10);
    }
    CHECK(gate.budget(watch).mode == limit_mode::enforce);
}

TEST_CASE("an enforced limit that comes to observe lets all in") {
    limit_rules settings = watching({.hourly = 5, .daily = 0});
    settings.limits[0].mode = limit_mode::enforce;
    labelled_offering gate{settings, at(10)};
    CHECK(gate.accepted(some(0, 8), at(10)) == 5);
    gate.limiter.reconfigure(watching({.hourly = 5, .daily = 0}));
    CHECK(gate.accepted(some(0, 8), at(10)) == 8);
    CHECK(gate.hourly(watch) == counts{.current = 5, .refused = 3});
}

TEST_CASE("other limits are enforced beside an observed one, and what they refuse takes none of its room") {
    limit_rules settings = watching({.hourly = 5, .daily = 0});
    settings.global.hourly = 7;
    labelled_offering gate{settings, at(10)};
    CHECK(gate.offer(some(0, 3), at(10)) == verdict_counts{.accepted = 3});
    CHECK(gate.offer(some(3, 7), at(10)) == verdict_counts{.accepted = 4, .refused_hourly = 3});
    CHECK(gate.hourly(watch) == counts{.current = 5, .refused = 5});
    gate.limiter.reconfigure(watching({.hourly = 20, .daily = 0}));
    CHECK(gate.hourly(watch).series_current == 7);
}

TEST_CASE("in observe mode every limit only watches") {
    limit_rules settings = watching({.hourly = 5, .daily = 0});
    settings.limits[0].mode = limit_mode::enforce;
    settings.global.hourly = 6;
    settings.global.daily = 7;
    settings.tenants.fallback = {.hourly = 4, .daily = 3};
    settings.mode = limit_mode::observe;
    labelled_offering gate{settings, at(10)};
    CHECK(gate.accepted(some(0, 9), at(10)) == 9);
    CHECK(gate.hourly(watch).series_current == 5);
    CHECK(gate.hourly(tenant_id("")) == counts{.current = 4, .refused = 5});
    CHECK(gate.daily(tenant_id("")) == counts{.current = 3, .refused = 6});
    CHECK(gate.budget(tenant_id("")).mode == limit_mode::observe);
    CHECK(gate.hourly() == counts{.max = 6, .current = 6});
    CHECK(gate.daily().series_current == 7);
    // What the global limit would have refused.
    CHECK(gate.hourly() == counts{.refused = 3, .samples_refused = 0});
    CHECK(gate.daily().series_refused == 2);
    // To enforce: those that are in stay in.
    settings.mode = limit_mode::enforce;
    gate.limiter.reconfigure(settings);
    CHECK(gate.offer(some(0, 12), at(10)) == verdict_counts{.accepted = 9, .refused_hourly = 3});
}

TEST_CASE("markers pass where all limits that apply only watch") {
    labelled_offering gate{watching({.hourly = 5, .daily = 0}), at(10)};
    CHECK(gate.offer({.count = 9, .admits = false}, at(10)) == verdict_counts{.accepted = 9});
    limit_rules settings{.global = {.hourly = 1}, .mode = limit_mode::observe};
    labelled_offering other{settings, at(10)};
    CHECK(other.offer({.count = 9, .admits = false}, at(10)) == verdict_counts{.accepted = 9});
}

TEST_CASE("an observed limit keeps room for incumbents in what it would refuse, and never counts beyond its maximum") {
    limit_rules settings = watching({.hourly = 5, .daily = 0});
    settings.incumbent_grace = std::chrono::minutes{10};
    labelled_offering gate{settings, at(10)};
    gate.offer(some(0, 4), at(10));
    CHECK(gate.accepted(some(100, 3), at(11)) == 3);
    CHECK(gate.hourly(watch) == counts{.current = 1, .refused = 2});
    CHECK(gate.accepted(some(0, 4), at(11, 5)) == 4);
    CHECK(gate.hourly(watch) == counts{.current = 5, .refused = 2});
    CHECK(gate.accepted(some(200, 3), at(11, 30)) == 3);
    CHECK(gate.hourly(watch) == counts{.current = 5, .refused = 5});
}

TEST_CASE("no explanation names a budget that only watches") {
    limit_rules settings = watching({.hourly = 5, .daily = 0});
    settings.global.hourly = 5;
    labelled_offering gate{settings, at(10)};
    gate.offer(some(0, 9), at(10));
    const offered_series refused{.fingerprint = fingerprint_in(some(0, 1), 8), .samples = 1, .admits = true};
    const auto spent = explain(gate.limiter, refused, {}, "");
    REQUIRE(spent.size() == 1);
    CHECK(name_of(spent[0].figures).limit.empty());
    CHECK(spent[0].figures.hourly.series_current == 5);
}
