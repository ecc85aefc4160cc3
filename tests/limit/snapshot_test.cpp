// Saved, and restored at once or later.
#include "limit/snapshot.hpp"
#include "limit/figures.hpp"
#include "limit/labelled.hpp"
#include "limit/snapshot_bytes.hpp"
#include "support/catch.hpp"

using namespace std::chrono_literals;
using std::chrono::sys_days;
using std::chrono::year;
using namespace seriesgate;
using namespace seriesgate::testing;

namespace snapshot_test {
namespace {

limit_rules all_kinds() {
    limit_rules settings{.global = {.hourly = 40, .daily = 100}};
    settings.tenants.fallback = {.hourly = 20, .daily = 60};
    settings.tenants.tenants_max = 2;
    label_limit limit = limit_named("per-namespace", {"namespace"}, {.hourly = 12, .daily = 30});
    limit.groups_max = 2;
    limit.per_tenant = true;
    label_limit watch = limit_named("watch", {}, {.hourly = 8, .daily = 9});
    watch.mode = limit_mode::observe;
    settings.limits = {limit, watch};
    settings.exempt = {selecting("{namespace=\"vital\"}")};
    return settings;
}

batch in(std::string tenant, std::string space, std::uint64_t first, std::uint64_t count) {
    return {.tenant = std::move(tenant), .labels = {{"namespace", std::move(space)}}, .first = first, .count = count};
}

/// Requests that leave something in every kind of budget.
std::vector<batch> traffic() {
    return {in("a", "shop", 0, 15), in("a", "bank", 0, 7),  in("b", "shop", 0, 9),
            in("c", "mill", 0, 14), in("d", "shop", 0, 30), in("a", "vital", 0, 5)};
}

std::vector<verdict> verdicts_of(labelled_offering& gate, const std::vector<batch>& requests, time_point now) {
    std::vector<verdict> all;
    for (const batch& each : requests) {
        gate.offer(each, now);
        all.insert(all.end(), gate.verdicts.begin(), gate.verdicts.end());
    }
    return all;
}

void check_same(const budget_window_figures& one, const budget_window_figures& other) {
    CHECK(one.series_max == other.series_max);
    CHECK(one.series_current == other.series_current);
    CHECK(one.series_refused == other.series_refused);
}
void check_same(const window_figures& one, const window_figures& other) {
    CHECK(one.span == other.span);
    CHECK(one.series_max == other.series_max);
    CHECK(one.series_current == other.series_current);
    CHECK(one.series_refused == other.series_refused);
    CHECK(one.samples_refused == other.samples_refused);
    CHECK(one.filter_bytes == other.filter_bytes);
    CHECK(one.false_positive_rate == other.false_positive_rate);
}
void check_same(const labelled_offering& one, const labelled_offering& other) {
    const auto figures = figures_of(one.limiter);
    const auto others = figures_of(other.limiter);
    check_same(figures.hourly, others.hourly);
    check_same(figures.daily, others.daily);
    CHECK(figures.exempt_hourly == others.exempt_hourly);
    CHECK(figures.exempt_daily == others.exempt_daily);
    CHECK(figures.tenants.size() == others.tenants.size());
    CHECK(figures.limits.size() == others.limits.size());
    for (const auto* all : {&figures.tenants, &figures.limits})
        for (const budget_figures& each : *all) {
            const budget_figures same = other.budget(id_of(each));
            CHECK(each.mode == same.mode);
            check_same(each.hourly, same.hourly);
            check_same(each.daily, same.daily);
        }
}

/// Ten an hour and 25 a day, of which ten have come by ten past eight, of day 0 or of `when`.
const limit_rules ten_an_hour{.global = {.hourly = 10, .daily = 25}, .incumbent_grace = 10min};

std::string saved_with_ten(time_point now) {
    offering gate{ten_an_hour, now};
    gate.offer(series(0, 12), now);
    return saved(gate.limiter);
}

}  // namespace

TEST_CASE("what is restored decides as what was saved, and shows the same figures") {
    const auto [first, second] = GENERATE(values<std::pair<time_point, time_point>>({
        {at(10, 20), at(10, 20)},            // no previous hour
        {at(10, 20), at(11, 5)},             // saved in the grace
        {at(10, 20), at(11, 15)},            // and after it
        {at(23, 20), at(0, 5, 0, 1)},        // over midnight
        {at(23, 20), at(0, 0, 0, 1) - 1ns},  // in the day's last instant
    }));
    labelled_offering gate{all_kinds(), first};
    verdicts_of(gate, traffic(), first);
    verdicts_of(gate, {in("a", "shop", 5, 4), in("e", "bank", 0, 2)}, second);
    const std::string bytes = saved(gate.limiter);
    REQUIRE_FALSE(bytes.empty());
    labelled_offering other{all_kinds(), second};
    REQUIRE(restored(other.limiter, bytes, second));
    check_same(gate, other);
    for (const auto& requests : {traffic(), std::vector{in("b", "bank", 0, 30)}, traffic()})
        CHECK(verdicts_of(gate, requests, second + 2min) == verdicts_of(other, requests, second + 2min));
    check_same(gate, other);
    for (const auto later : {1h, 2h, 26h})
        CHECK(verdicts_of(gate, traffic(), second + later) == verdicts_of(other, traffic(), second + later));
    check_same(gate, other);
}

TEST_CASE("an admission that has seen nothing can be saved and restored") {
    labelled_offering gate{all_kinds(), at(10)};
    labelled_offering other{all_kinds(), at(10)};
    REQUIRE(restored(other.limiter, saved(gate.limiter), at(10)));
    check_same(gate, other);
}

TEST_CASE("restored in its hour, a limit stays spent") {
    offering gate{ten_an_hour, at(10, 50)};
    REQUIRE(restored(gate.limiter, saved_with_ten(at(10, 5)), at(10, 50)));
    CHECK(gate.hourly() == tally{.refused = 2, .samples_refused = 2});
    CHECK(gate.offer(series(0, 12), at(10, 50)) == verdict_counts{.accepted = 10, .refused_hourly = 2});
    CHECK(gate.hourly() == tally{.refused = 2, .samples_refused = 4});
}

TEST_CASE("restored in the next hour, its series are incumbents") {
    const auto [then, now] = GENERATE(values<std::pair<time_point, time_point>>({
        {at(10, 55), at(11, 5)},
        {at(23, 55), at(0, 5, 0, 1)},
        {sys_days{year{2026} / 12 / 31} + 23h + 59min, sys_days{year{2027} / 1 / 1} + 1min},
        {sys_days{year{2028} / 2 / 28} + 23h, sys_days{year{2028} / 2 / 29}},
    }));
    offering gate{ten_an_hour, now};
    REQUIRE(restored(gate.limiter, saved_with_ten(then), now));
    CHECK(gate.hourly().span == hour_of(now));
    CHECK(gate.daily().span == day_of(now));
    CHECK(gate.hourly() == tally{.current = 0, .refused = 0});
    CHECK(gate.accepted(stale_markers(0, 10), now) == 10);
    CHECK(gate.offer(series(100, 20), now) == verdict_counts{.refused_hourly = 20});
    CHECK(gate.accepted(series(0, 10), now) == 10);
    CHECK(gate.hourly().series_current == 10);
    CHECK(gate.daily().series_current == 10);
}

TEST_CASE("restored in the next hour but after its grace, all have an equal chance") {
    offering gate{ten_an_hour, at(11, 10)};
    REQUIRE(restored(gate.limiter, saved_with_ten(at(10, 55)), at(11, 10)));
    CHECK(gate.accepted(series(100, 20), at(11, 10)) == 10);
    CHECK(gate.daily().series_current == 20);
}

TEST_CASE("restored hours later, the day is known and the hour is not") {
    offering gate{ten_an_hour, at(15)};
    REQUIRE(restored(gate.limiter, saved_with_ten(at(10, 55)), at(15)));
    CHECK(gate.hourly().series_current == 0);
    CHECK(gate.daily().series_current == 10);
    CHECK(gate.accepted(stale_markers(0, 10), at(15)) == 10);
    CHECK(gate.accepted(series(100, 20), at(15)) == 10);
    CHECK(gate.daily().series_current == 20);
}

TEST_CASE("restored days later, all is forgotten") {
    const auto now = GENERATE(values<time_point>({at(1, 0, 0, 1), at(10, 55, 0, 1), at(10, 55, 0, 400)}));
    offering gate{ten_an_hour, now};
    REQUIRE(restored(gate.limiter, saved_with_ten(at(10, 55)), now));
    CHECK(gate.hourly().span == hour_of(now));
    CHECK(gate.daily().span == day_of(now));
    CHECK(gate.daily().series_current == 0);
    CHECK(gate.offer(stale_markers(0, 10), now) == verdict_counts{.refused_unknown = 10});
    CHECK(gate.accepted(series(100, 20), now) == 10);
}

TEST_CASE("restored by a clock that is behind, the window goes on; by one far behind, the hour begins afresh") {
    SECTION("less than an hour before the hour") {
        offering gate{ten_an_hour, at(9, 30)};
        REQUIRE(restored(gate.limiter, saved_with_ten(at(10, 5)), at(9, 30)));
        CHECK(gate.hourly().span == hour_of(at(10)));
        CHECK(gate.accepted(series(100, 20), at(9, 31)) == 0);
    }
    SECTION("more, on the same day") {
        offering gate{ten_an_hour, at(8)};
        REQUIRE(restored(gate.limiter, saved_with_ten(at(10, 5)), at(8)));
        CHECK(gate.hourly().span == hour_of(at(8)));
        CHECK(gate.daily().series_current == 10);
        CHECK(gate.accepted(series(100, 20), at(8)) == 10);
    }
    SECTION("another day") {
        offering gate{ten_an_hour, at(8, 0, 0, -3)};
        REQUIRE(restored(gate.limiter, saved_with_ten(at(10, 5)), at(8, 0, 0, -3)));
        CHECK(gate.hourly().span == hour_of(at(8, 0, 0, -3)));
        CHECK(gate.daily().series_current == 0);
    }
}

TEST_CASE("a set of several segments is restored whole") {
    const std::uint64_t count = 300'000;
    offering gate{{.false_positive_rate = 1e-6}, at(10)};
    gate.fill(0, count, at(10));
    offering other{{.global = {.hourly = 1}}, at(10)};  // what it does not know is refused
    REQUIRE(restored(other.limiter, saved(gate.limiter), at(10)));
    CHECK(other.hourly().series_current == count);
    CHECK(other.accepted(series(0, count), at(10)) == count);
    CHECK(other.accepted(series(count, count), at(10)) < 10);
}

TEST_CASE("a restored table is as large as its series want, whatever the budgets take in the file") {
    limit_rules rules;
    rules.limits = {limit_named("per-namespace", {"namespace"}, {.hourly = 1, .daily = 1})};
    labelled_offering gate{rules, at(10), set_kind::exact};
    for (int space = 0; space < 500; ++space) gate.offer(in("", std::to_string(space), 0, 1'100), at(10));
    labelled_offering again{rules, at(10), set_kind::exact};
    REQUIRE(restored(again.limiter, saved(gate.limiter), at(10)));
    const std::uint64_t bytes = figures_of(gate.limiter).hourly.filter_bytes;
    CHECK(figures_of(again.limiter).hourly.series_current == 500);
    CHECK(figures_of(again.limiter).hourly.filter_bytes <= 2 * bytes);
}

TEST_CASE("saving says so when the bytes could not be written") {
    struct full_sink final : state_sink {
        std::size_t room = 0;
        bool write(std::string_view more) override {
            if (more.size() > room) return false;
            room -= more.size();
            return true;
        }
    } sink;
    offering gate{ten_an_hour, at(10)};
    gate.offer(series(0, 12), at(10));
    const std::size_t size = saved(gate.limiter).size();
    for (const std::size_t room : {std::size_t{0}, std::size_t{30}, size / 2, size - 1}) {
        sink.room = room;
        CHECK_FALSE(save_snapshot(gate.limiter, sink));
    }
    sink.room = size;
    CHECK(save_snapshot(gate.limiter, sink));
    CHECK(gate.accepted(series(0, 12), at(10)) == 10);
}

}  // namespace snapshot_test
