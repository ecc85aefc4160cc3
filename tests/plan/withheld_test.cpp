#include "plan/marker.hpp"

#include <limits>

#include "core/text.hpp"
#include "limit/limiter.hpp"
#include "limit/offering.hpp"
#include "support/catch.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;

namespace {

constexpr time_point hour = at(10);
constexpr auto hourly = refusing_window::hourly;
constexpr auto daily = refusing_window::daily;

/// At 10 o'clock, without a limit.
limiter_figures quiet() {
    limiter_figures figures;
    figures.hourly.span = hour_of(hour);
    figures.daily.span = day_of(hour);
    return figures;
}

budget_window_figures full(std::uint64_t refused) {
    return {.series_max = 5, .series_current = 5, .series_refused = refused};
}

budget_figures of_tenant(std::string tenant, std::uint64_t refused) {
    return {.name = {.limit = {}, .tenant = std::move(tenant), .has_tenant = true, .group = {}},
            .hourly = full(refused),
            .daily = {}};
}

budget_figures of_job(std::string job, std::uint64_t refused) {
    return {.name = {.limit = "per-job", .tenant = {}, .group = {{"job", std::move(job)}}},
            .hourly = full(refused),
            .daily = {}};
}

refused_tenant refused_by(std::string limit, std::string tenant, time_point last = hour + 1min) {
    return {.limit = std::move(limit), .tenant = std::move(tenant), .last = last};
}

using all_refused = std::vector<refused_tenant>;

marker_values found_in(const limiter_figures& figures, const all_refused& refused) {
    return find_withheld(figures, refused);
}

}  // namespace

TEST_CASE("a budget of active series that takes no new ones for now has a marker, too") {
    series_limiter gate{
        {.global = {.active = 5}}, at(10), hash_key::known_to_all(), limit_scope::gate, set_kind::exact};
    lookup_result scratch;
    const auto offer = [&](const std::vector<offered_series>& sent) {
        std::vector<verdict> verdicts(sent.size(), verdict::unknown);
        gate.decide(sent, at(10), verdicts, scratch);
        return std::ranges::count_if(verdicts, is_accepted);
    };
    for (const std::uint64_t first : {0u, 5u}) {
        REQUIRE(offer(series(first, 5)) == 5);
        offer(stale_markers(first, 5));
    }
    REQUIRE(offer(series(10, 5)) == 0);  // twice as many as may be active have come within the window
    CHECK(find_withheld(figures_of(gate), all_refused{refused_by("global", "", at(10))}).size() == 1);
}

TEST_CASE("the global budget has a marker for the hour and one for the day") {
    limiter_figures figures = quiet();
    figures.global.hourly = full(3);
    figures.global.daily = {.series_max = 9, .series_current = 9, .series_refused = 4};
    CHECK(found_in(figures, {refused_by("global", "")}) ==
          marker_values{{{.tenant = "", .limit = "global", .group = "", .of_tenant = "", .window = hourly}, 3},
                        {{.tenant = "", .limit = "global", .group = "", .of_tenant = "", .window = daily}, 4}});
}

TEST_CASE("a budget withholds something if it limits, has refused something and has no room for newcomers") {
    const all_refused refused{refused_by("global", "")};
    limiter_figures figures = quiet();
    const auto kept = [](std::uint64_t reserved) {
        return budget_window_figures{
            .series_max = 5, .series_current = 2, .series_reserved = reserved, .series_refused = 1};
    };
    for (const auto& [window, is_told] : std::vector<std::pair<budget_window_figures, bool>>{
             {full(1), true},
             {full(0), false},
             {{.series_max = 6, .series_current = 5, .series_refused = 1}, false},
             {{.series_max = 0, .series_current = 5, .series_refused = 1}, false},
             {{.series_max = 5, .series_current = 7, .series_refused = 1}, true},  // the limit was lowered
             {kept(2), false},
             {kept(3), true},
             {kept(std::numeric_limits<std::uint64_t>::max()), true}}) {
        CAPTURE(window.series_max, window.series_current, window.series_reserved, window.series_refused);
        figures.global.hourly = window;
        CHECK(found_in(figures, refused).size() == (is_told ? 1 : 0));
    }
    figures.global.hourly = full(1);
    CHECK(found_in(figures, {}).empty());
    figures.global.mode = limit_mode::observe;
    CHECK(found_in(figures, refused).empty());
}

TEST_CASE("a tenant's budget is told under that tenant, as its senders name it") {
    limiter_figures figures = quiet();
    figures.tenants = {of_tenant("a", 2), of_tenant("t\\xff", 3), of_tenant("unheard", 4)};
    CHECK(found_in(figures, {refused_by("tenant", "a"), refused_by("global", "t\xff")}) ==
          marker_values{
              {{.tenant = "a", .limit = "tenant", .group = "", .of_tenant = "a", .window = hourly}, 2},
              {{.tenant = "t\xff", .limit = "tenant", .group = "", .of_tenant = "t\\xff", .window = hourly}, 3}});
}

TEST_CASE("the budget that further tenants share is told under those that have none of their own") {
    limiter_figures figures = quiet();
    figures.tenants = {of_tenant("a", 2), of_tenant("__overflow__", 7)};
    figures.tenants[1].name.overflow = true;
    const all_refused refused{refused_by("tenant", "a"), refused_by("tenant", "late"), refused_by("tenant", "later"),
                              refused_by("tenant", "__overflow__")};  // a tenant of that name shares it, too
    const marker_name shared{
        .tenant = "late", .limit = "tenant", .group = "", .of_tenant = "__overflow__", .window = hourly};
    marker_name other = shared;
    other.tenant = "later";
    marker_name namesake = shared;
    namesake.tenant = "__overflow__";
    CHECK(found_in(figures, refused) ==
          marker_values{{{.tenant = "a", .limit = "tenant", .group = "", .of_tenant = "a", .window = hourly}, 2},
                        {shared, 7},
                        {other, 7},
                        {namesake, 7}});
}

TEST_CASE("a budget of no tenant is told under those that its limit has refused something in the window") {
    limiter_figures figures = quiet();
    figures.limits = {of_job("x", 2)};
    figures.limits[0].daily = {.series_max = 5, .series_current = 5, .series_refused = 3};
    const marker_name base{
        .tenant = "a", .limit = "per-job", .group = "{job=\"x\"}", .of_tenant = "", .window = hourly};
    marker_name of_day = base;
    of_day.window = daily;
    marker_name before = of_day;
    before.tenant = "hour-before";
    const all_refused refused{refused_by("per-job", "a"), refused_by("per-job", "hour-before", hour - 1s),
                              refused_by("per-job", "day-before", hour - 11h), refused_by("global", "b"),
                              refused_by("__unknown__", "c")};
    CHECK(found_in(figures, refused) == marker_values{{base, 2}, {of_day, 3}, {before, 3}});
}

TEST_CASE("a budget that others were spent before is told under all that something was refused") {
    limiter_figures figures = quiet();
    figures.limits = {of_job("x", 2)};
    const auto found =
        found_in(figures, {refused_by("global", "a"), refused_by("tenant", "b"), refused_by("__unknown__", "c")});
    REQUIRE(found.size() == 2);
    CHECK(found.begin()->first.tenant == "a");
    CHECK(std::next(found.begin())->first.tenant == "b");
}

TEST_CASE("there are at most a thousand, those with the most refused series") {
    limiter_figures figures = quiet();
    all_refused refused{refused_by("per-job", "")};
    for (std::size_t i = 0; i < 1500; ++i) figures.limits.push_back(of_job(std::to_string(i), 1 + i));
    const auto found = found_in(figures, refused);
    CHECK(found.size() == 1000);
    std::uint64_t least = 1500;
    for (const auto& [name, series_refused] : found) least = std::min(least, series_refused);
    CHECK(least == 501);
}

TEST_CASE("texts are cut between two characters, and budgets that look the same then share a marker") {
    limiter_figures figures = quiet();
    std::string long_value;
    for (int i = 0; i < 600; ++i) long_value += "\xc3\xa9";
    figures.limits = {of_job(long_value + "a", 2), of_job(long_value + "b", 3), of_job("x", 1)};
    const auto found = found_in(figures, {refused_by("per-job", "")});
    REQUIRE(found.size() == 2);
    const auto& [name, series_refused] = *std::next(found.begin());
    CHECK(series_refused == 3);
    CHECK(name.group.size() <= marker_text_bytes_max);
    CHECK(name.group.size() >= marker_text_bytes_max - 1);
    CHECK(name.group.substr(name.group.size() - 3) == "...");
    CHECK(is_utf8(name.group));
}
