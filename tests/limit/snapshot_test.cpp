// Saved, and restored at once or later.
#include <filesystem>

#include "fuzz/small_limiter.hpp"
#include "limit/figures.hpp"
#include "limit/labelled.hpp"
#include "limit/limiter.hpp"
#include "limit/snapshot_bytes.hpp"
#include "support/catch.hpp"
#include "support/files.hpp"
#include "support/source_tree.hpp"

namespace seriesgate::testing::snapshot_test {
namespace {

using std::chrono::sys_days;
using std::chrono::year;

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

/// Requests that leave something in every kind of budget.
std::vector<batch> traffic() {
    return {in("shop", 0, 15, "a"), in("bank", 0, 7, "a"),  in("shop", 0, 9, "b"),
            in("mill", 0, 14, "c"), in("shop", 0, 30, "d"), in("vital", 0, 5, "a")};
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

const limit_rules ten_an_hour{.global = {.hourly = 10, .daily = 25}, .incumbent_grace = 10min};

/// Ten of twelve series were admitted.
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
    verdicts_of(gate, {in("shop", 5, 4, "a"), in("bank", 0, 2, "e")}, second);
    const std::string bytes = saved(gate.limiter);
    REQUIRE_FALSE(bytes.empty());
    restarted<labelled_offering> other{all_kinds(), bytes, second};
    check_same(gate, other);
    for (const auto& requests : {traffic(), std::vector{in("bank", 0, 30, "b")}, traffic()})
        CHECK(verdicts_of(gate, requests, second + 2min) == verdicts_of(other, requests, second + 2min));
    check_same(gate, other);
    for (const auto later : {1h, 2h, 26h})
        CHECK(verdicts_of(gate, traffic(), second + later) == verdicts_of(other, traffic(), second + later));
    check_same(gate, other);
}

TEST_CASE("an admission that has seen nothing can be saved and restored") {
    labelled_offering gate{all_kinds(), at(10)};
    restarted<labelled_offering> other{all_kinds(), saved(gate.limiter), at(10)};
    check_same(gate, other);
}

TEST_CASE("when a state is restored says what a spent limit of it is worth") {
    struct row {
        const char* what;
        time_point saved_at, now, hour;  ///< and in which hour it goes on
        std::uint64_t current, daily;
        std::uint64_t known;      ///< of ten, by their markers
        std::uint64_t newcomers;  ///< that find room
    };
    const time_point new_year = sys_days{year{2027} / 1 / 1};
    const time_point leap_day = sys_days{year{2028} / 2 / 29};
    const time_point tomorrow = at(0, 0, 0, 1);
    for (const auto& [what, saved_at, now, hour, current, daily, known, newcomers] : std::vector<row>{
             {"in its hour it stays spent", at(10, 5), at(10, 50), at(10), 10, 10, 10, 0},
             {"in the next its series are incumbents", at(10, 55), at(11, 5), at(11), 0, 10, 10, 0},
             {"over midnight, too", at(23, 55), at(0, 5, 0, 1), tomorrow, 0, 0, 10, 0},
             {"over a year's end", new_year - 1min, new_year + 1min, new_year, 0, 0, 10, 0},
             {"before a leap day", leap_day - 1h, leap_day, leap_day, 0, 0, 10, 0},
             {"after its grace all have an equal chance", at(10, 55), at(11, 10), at(11), 0, 10, 10, 10},
             {"hours later the day is known", at(10, 55), at(15), at(15), 0, 10, 10, 10},
             {"on the next day all is forgotten", at(10, 55), at(1, 0, 0, 1), tomorrow + 1h, 0, 0, 0, 10},
             {"a day later", at(10, 55), at(10, 55, 0, 1), tomorrow + 10h, 0, 0, 0, 10},
             {"a year later", at(10, 55), at(10, 55, 0, 400), at(10, 0, 0, 400), 0, 0, 0, 10},
             {"by a clock that is behind the window goes on", at(10, 5), at(9, 30), at(10), 10, 10, 10, 0},
         }) {
        INFO(what);
        restarted<offering> gate{ten_an_hour, saved_with_ten(saved_at), now};
        CHECK(gate.hourly().span == hour_of(hour));
        CHECK(gate.daily().span == day_of(hour));
        const std::uint64_t refused = current == 0 ? 0 : 2;
        CHECK(gate.hourly() == tally{.current = current, .refused = refused, .samples_refused = refused});
        CHECK(gate.daily().series_current == daily);
        CHECK(gate.accepted(stale_markers(0, 10), now) == known);
        CHECK(gate.offer(series(100, 20), now) ==
              verdict_counts{.accepted = newcomers, .refused_hourly = 20 - newcomers});
        CHECK(gate.accepted(series(0, 12), now) == 10 - newcomers);
        CHECK(gate.hourly().series_current == 10);
        CHECK(gate.daily().series_current == (newcomers == 0 ? 10 : daily + newcomers));
    }
}

TEST_CASE("restored by a clock that is far behind, the hour begins afresh") {
    restarted<offering> gate{ten_an_hour, saved_with_ten(at(10, 5)), at(8)};
    CHECK(gate.hourly().span == hour_of(at(8)));
    CHECK(gate.daily().series_current == 10);
    CHECK(gate.accepted(series(100, 20), at(8)) == 10);
    const restarted<offering> days_behind{ten_an_hour, saved_with_ten(at(10, 5)), at(8, 0, 0, -3)};
    CHECK(days_behind.hourly().span == hour_of(at(8, 0, 0, -3)));
    CHECK(days_behind.daily().series_current == 0);
}

TEST_CASE("a set of several segments is restored whole") {
    const std::uint64_t count = 300'000;
    offering gate{{.false_positive_rate = 1e-6}, at(10)};
    gate.fill(0, count, at(10));
    restarted<offering> other{
        {.global = {.hourly = 1}}, saved(gate.limiter), at(10)};  // what it does not know is refused
    CHECK(other.hourly().series_current == count);
    CHECK(other.accepted(series(0, count), at(10)) == count);
    CHECK(other.accepted(series(count, count), at(10)) < 10);
}

TEST_CASE("a restored table is as large as its series want, whatever the budgets take in the file") {
    limit_rules rules;
    rules.limits = {limit_named("per-namespace", {"namespace"}, {.hourly = 1, .daily = 1})};
    labelled_offering gate{rules, at(10), set_kind::exact};
    for (int space = 0; space < 500; ++space) gate.offer(in(std::to_string(space), 0, 1'100), at(10));
    restarted<labelled_offering> again{rules, saved(gate.limiter), at(10), set_kind::exact};
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

// Else the fuzzer would start from states of an older format, and get no further than their first bytes.
TEST_CASE("the seeds of fuzz_snapshot are states that can be loaded") {
    std::size_t seeds = 0;
    for (const auto& file : std::filesystem::directory_iterator{source_tree() / "tests/fuzz/corpus/fuzz_snapshot"}) {
        CAPTURE(file.path().filename().string());
        const std::string seed = read_file(file.path());
        REQUIRE_FALSE(seed.empty());
        const auto [settings, now] = small_limiter_of(static_cast<std::uint8_t>(seed[0]));
        series_limiter limiter{settings, now};
        CHECK(restored(limiter, std::string_view{seed}.substr(1), now));
        ++seeds;
    }
    CHECK(seeds == 10);
}

}  // namespace seriesgate::testing::snapshot_test
