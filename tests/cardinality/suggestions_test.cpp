#include "cardinality/suggestions.hpp"

#include "cardinality/demand_history.hpp"
#include "limit/labelled.hpp"
#include "support/catch.hpp"
#include "support/state_text.hpp"

namespace seriesgate::testing::suggestions_test {
namespace {

using std::chrono::sys_days;

constexpr std::chrono::sys_seconds midnight = sys_days{std::chrono::year{2026} / 3 / 10};
constexpr std::chrono::sys_seconds ten = midnight + 10h;

budget_figures group_with(const std::string& value, std::uint64_t hourly, std::uint64_t daily, series_maxima maxima) {
    budget_figures made;
    made.name.limit = "per-namespace";
    made.name.group = {{"namespace", value}};
    made.hourly = {.series_max = maxima.hourly, .series_current = hourly, .series_refused = 0};
    made.daily = {.series_max = maxima.daily, .series_current = daily, .series_refused = 0};
    return made;
}

struct scene {
    limiter_figures figures;
    limit_rules rules;
    demand_history history;
    fill_rates rates;

    scene() {
        figures.hourly.span = {ten, ten + 1h};
        figures.daily.span = {midnight, midnight + 24h};
        rules.limits = {limit_named("per-namespace", {"namespace"}, {})};
    }
    void ended(demand_scope scope, const budget_name& name, std::chrono::sys_seconds hour, std::uint64_t series) {
        const ended_budget one{.scope = scope, .name = name, .hour = window_demand{hour, series}, .day = {}};
        history.add({&one, 1});
    }
    [[nodiscard]] suggestion_list at(time_point now, const budget_choice& choice = {}) const {
        return suggest(figures, rules, history, rates, now, choice);
    }
    [[nodiscard]] suggestion find(demand_scope scope, const std::string& value = {}, time_point now = ten) const {
        for (const suggestion& each : at(now).shown)
            if (each.scope == scope && (value.empty() || each.name.group.at(0).second == value)) return each;
        FAIL("no such suggestion");
        return {};
    }
};

TEST_CASE("a suggestion is the peak and some more, rounded up to two digits") {
    const auto hourly = [](std::uint64_t peak) { return suggested_maximum(refusing_window::hourly, peak); };
    const auto daily = [](std::uint64_t peak) { return suggested_maximum(refusing_window::daily, peak); };
    CHECK(hourly(1) == 10);
    CHECK(hourly(8) == 12);
    CHECK(hourly(9) == 14);
    CHECK(hourly(66) == 99);
    CHECK(hourly(67) == 110);
    CHECK(hourly(5'310) == 8'000);
    CHECK(hourly(100'000) == 150'000);
    CHECK(daily(8) == 10);
    CHECK(daily(9) == 12);
    CHECK(daily(80) == 100);
    CHECK(daily(81) == 110);
    CHECK(daily(1'000'001) == 1'300'000);
    CHECK(suggested_maximum(refusing_window::active, 81) == 110);
    CHECK(hourly(~std::uint64_t{0}) >= std::uint64_t{1} << 62);
}

TEST_CASE("peak and median are of the windows that are kept, and of the running one's demand so far") {
    scene of;
    of.figures.limits = {group_with("a", 40, 300, {.hourly = 100, .daily = 0})};
    of.figures.limits[0].hourly.series_refused = 7;
    const budget_name name = of.figures.limits[0].name;
    for (const std::uint64_t series : {20u, 60u, 50u}) of.ended(demand_scope::group, name, ten - series * 6min, series);
    const suggestion made = of.find(demand_scope::group, "a");
    CHECK(made.hourly.series_max == 100);
    CHECK(made.hourly.demand == 47);
    CHECK(made.hourly.peak == 60);
    CHECK(made.hourly.typical == 50u);
    CHECK(made.hourly.windows == 3);
    CHECK(made.hourly.suggested == 90u);
    CHECK(made.hourly.headroom == 40);
    CHECK_FALSE(made.hourly.exhausted_in.has_value());
    CHECK(made.daily.peak == 300);
    CHECK_FALSE(made.daily.typical.has_value());
    CHECK(made.daily.windows == 0);
    CHECK(made.daily.suggested == 380u);
    CHECK_FALSE(made.daily.headroom.has_value());
    // Only the hour has a limit: the suggestion does not bring one for the day.
    CHECK(made.to_write == series_maxima{.hourly = 100, .daily = 0});
    of.figures.limits[0].hourly.series_refused = 0;
    CHECK(of.find(demand_scope::group, "a").to_write == series_maxima{.hourly = 90, .daily = 0});
}

TEST_CASE("while one window refuses no other is lowered: its demand is hidden") {
    scene of;
    const series_maxima maxima{.hourly = 100, .daily = 9'000, .active = 500};
    of.figures.active.emplace();
    of.figures.limits = {group_with("a", 100, 120, maxima), group_with("b", 10, 700, maxima)};
    for (budget_figures& each : of.figures.limits) each.active = {.series_max = 500, .series_current = 90};
    of.rules.limits[0].maxima = maxima;
    of.figures.limits[0].hourly.series_refused = 60;
    const series_maxima raised{.hourly = 240, .daily = 9'000, .active = 500};
    CHECK(of.find(demand_scope::group, "a").to_write == raised);
    CHECK(of.find(demand_scope::limit).to_write == raised);
    CHECK(of.find(demand_scope::group, "b").to_write.daily == 880);
    of.figures.limits[0].mode = limit_mode::observe;  // all of it passes, so all is seen
    CHECK(of.find(demand_scope::group, "a").to_write.daily == 240);
}

TEST_CASE("for active series the most at one time count, and those that were refused") {
    scene of;
    of.figures.active.emplace();
    of.figures.limits = {group_with("a", 40, 40, {}), group_with("b", 40, 40, {})};
    for (budget_figures& each : of.figures.limits) {
        each.active = {.series_max = 50, .series_current = 20, .series_refused = 6};
        each.active_peak = each.name.group[0].second == "a" ? 44 : 30;
    }
    const ended_budget ended{.scope = demand_scope::group,
                             .name = of.figures.limits[1].name,
                             .hour = window_demand{ten - 1h, 60},
                             .day = {},
                             .active = 80};
    of.history.add({&ended, 1});
    of.rules.limits[0].maxima = {.hourly = 0, .daily = 0, .active = 50};
    const auto a = of.find(demand_scope::group, "a"), b = of.find(demand_scope::group, "b");
    REQUIRE(a.active.has_value());
    CHECK(a.active->demand == 50);
    CHECK(a.active->suggested == 63u);
    CHECK(a.active->headroom == 0);
    CHECK(a.to_write == series_maxima{.hourly = 0, .daily = 0, .active = 63});
    CHECK(b.active->demand == 36);
    CHECK(b.active->peak == 80);
    CHECK(b.active->typical == 80u);
    CHECK(b.active->suggested == 100u);
    const auto whole = of.find(demand_scope::limit);
    CHECK(whole.active->demand == 50);
    CHECK(whole.active->series_max == 50);
    CHECK_FALSE(of.find(demand_scope::global).active.has_value());
}

TEST_CASE("where nothing is limited both numbers are to be written, and the day's is at least the hour's") {
    scene of;
    of.figures.limits = {group_with("a", 100, 100, {})};
    const suggestion made = of.find(demand_scope::group, "a");
    CHECK(made.hourly.suggested == 150u);
    CHECK(made.daily.suggested == 150u);  // and not 130
    CHECK(made.to_write == series_maxima{.hourly = 150, .daily = 150});
}

TEST_CASE("without demand nothing is suggested, and what is in force stays") {
    scene of;
    of.figures.limits = {group_with("a", 0, 0, {.hourly = 100, .daily = 200})};
    const suggestion made = of.find(demand_scope::group, "a");
    CHECK_FALSE(made.hourly.suggested.has_value());
    CHECK(made.hourly.headroom == 100);
    CHECK(made.to_write == series_maxima{.hourly = 100, .daily = 200});
}

TEST_CASE("a limit as a whole goes by its largest group without an override") {
    scene of;
    const series_maxima maxima{.hourly = 100, .daily = 1'000};
    of.rules.limits[0].maxima = maxima;
    of.figures.limits = {group_with("a", 40, 80, maxima), group_with("b", 30, 90, maxima),
                         group_with("big", 500, 600, {.hourly = 800, .daily = 0}),
                         group_with("__overflow__", 700, 700, maxima)};
    of.figures.limits[2].overridden = true;
    of.figures.limits[3].name.overflow = true;
    budget_name whole;
    whole.limit = "per-namespace";
    of.ended(demand_scope::limit, whole, ten - 1h, 44);
    const suggestion made = of.find(demand_scope::limit);
    CHECK(made.hourly.demand == 40);
    CHECK(made.hourly.peak == 44);
    CHECK(made.hourly.typical == 44u);
    CHECK(made.daily.peak == 90);
    CHECK(made.to_write == series_maxima{.hourly = 66, .daily = 120});
    CHECK(made.hourly.series_max == 100);
}

TEST_CASE("tenants without an override go by the largest of them") {
    scene of;
    for (const char* name : {"a", "b"}) {
        budget_figures& tenant = of.figures.tenants.emplace_back();
        tenant.name.has_tenant = true;
        tenant.name.tenant = name;
        tenant.hourly.series_current = name[0] == 'a' ? 10 : 20;
        tenant.overridden = name[0] == 'b';
    }
    of.rules.tenants.fallback.hourly = 15;
    CHECK(of.find(demand_scope::tenants).hourly.demand == 10);
    CHECK(of.find(demand_scope::tenants).hourly.series_max == 15);
    CHECK(of.find(demand_scope::tenants).to_write == series_maxima{.hourly = 15, .daily = 0});
}

TEST_CASE("the list begins with what many share, then come those with the highest peaks") {
    scene of;
    of.figures.limits = {group_with("a", 1, 5, {}), group_with("b", 7, 7, {}), group_with("c", 2, 2, {})};
    of.ended(demand_scope::group, of.figures.limits[2].name, ten - 1h, 100);
    const suggestion_list all = of.at(ten);
    REQUIRE(all.shown.size() == 6);
    CHECK(all.total == 6);
    CHECK(all.shown[0].scope == demand_scope::global);
    CHECK(all.shown[1].scope == demand_scope::tenants);
    CHECK(all.shown[2].scope == demand_scope::limit);
    CHECK(all.shown[3].name.group.at(0).second == "c");
    CHECK(all.shown[4].name.group.at(0).second == "b");
    CHECK(all.shown[5].name.group.at(0).second == "a");

    const suggestion_list some = of.at(ten, {.shown_max = 4});
    CHECK(some.total == 6);
    REQUIRE(some.shown.size() == 4);
    CHECK(some.shown[3].name.group.at(0).second == "c");
    CHECK(of.at(ten, {.shown_max = 2}).shown.size() == 2);
    CHECK(of.at(ten, {.shown_max = 100, .tenant = {}, .limit = "per-namespace"}).total == 4);
    CHECK(of.at(ten, {.shown_max = 100, .tenant = "t", .limit = {}}).total == 0);
}

// --- how fast they fill

/// One group with a limit of 1000 an hour and 5000 a day.
struct filling_scene : scene {
    filling_scene() { set(0); }
    void set(std::uint64_t count) {
        const series_maxima maxima{.hourly = 1'000, .daily = 5'000};
        rules.limits[0].maxima = maxima;
        figures.limits = {group_with("a", count, count, maxima)};
    }
    void note(time_point now, std::uint64_t count) {
        set(count);
        if (rates.is_due(now, ten, midnight)) rates.note(now, figures);
    }
    [[nodiscard]] std::optional<std::chrono::seconds> left(time_point now) const {
        return find(demand_scope::group, "a", now).hourly.exhausted_in;
    }
};

TEST_CASE("what comes back in an hour's first minutes is no rate") {
    filling_scene of;
    of.note(ten + 1min, 600);
    of.set(700);
    CHECK_FALSE(of.left(ten + 119s).has_value());
    of.note(ten + 2min, 700);
    CHECK_FALSE(of.left(ten + 2min).has_value());
    CHECK_FALSE(of.left(ten + 4min).has_value());  // it does not grow
    of.set(720);
    CHECK(of.left(ten + 4min) == 1'680s);  // 280 more, 10 a minute
}

TEST_CASE("a budget is exhausted when what is left is divided by the rate of the last minutes") {
    filling_scene of;
    of.note(ten + 2min, 700);
    of.note(ten + 7min, 720);
    of.set(800);
    CHECK(of.left(ten + 12min) == 1'200s);  // 100 in 10 minutes since the older of the two
    of.note(ten + 12min, 800);
    of.set(800);
    CHECK(of.left(ten + 17min) == 1'500s);  // 80 in 10 minutes, since 10:07
    of.note(ten + 17min, 800);
    CHECK_FALSE(of.left(ten + 22min).has_value());  // nothing since 10:12
    CHECK(of.find(demand_scope::limit, {}, ten + 17min).hourly.exhausted_in == of.left(ten + 17min));
}

TEST_CASE("a budget that is spent is exhausted now, one without a limit never") {
    filling_scene of;
    of.set(1'000);
    CHECK(of.left(ten) == 0s);
    of.figures.limits[0].hourly.series_max = 0;
    CHECK_FALSE(of.left(ten).has_value());
}

TEST_CASE("what would be exhausted after the window has ended is not") {
    filling_scene of;
    of.note(ten + 2min, 100);
    of.set(200);
    CHECK_FALSE(of.left(ten + 12min).has_value());  // 80 minutes
    of.set(350);
    CHECK(of.left(ten + 12min) == 1'560s);  // 26
}

TEST_CASE("a new hour begins without a rate, the day goes on") {
    filling_scene of;
    of.note(ten + 30min, 700);
    of.figures.hourly.span = {ten + 1h, ten + 2h};
    of.set(800);
    CHECK_FALSE(of.left(ten + 65min).has_value());
    // 100 in 35 minutes: 4200 more take 24.5 hours. With 1000 more in 35 minutes it is spent before midnight.
    CHECK_FALSE(of.find(demand_scope::group, "a", ten + 65min).daily.exhausted_in.has_value());
    of.set(1'700);
    CHECK(of.find(demand_scope::group, "a", ten + 65min).daily.exhausted_in == 6'930s);
}

TEST_CASE("of more budgets than are remembered only those are told of that were") {
    scene of;
    const series_maxima maxima{.hourly = 10'000, .daily = 0};
    for (std::uint64_t n = 0; n < 1'500; ++n) of.figures.limits.push_back(group_with(std::to_string(n), n, n, maxima));
    of.rates.note(ten + 2min, of.figures);
    const auto left = [&](const std::string& value) {
        const budget_window_figures filling{.series_max = 10'000, .series_current = 6'000};
        return of.rates.exhausted_in(demand_key(demand_scope::group, group_with(value, 0, 0, {}).name),
                                     refusing_window::hourly, filling, of.figures, ten + 12min);
    };
    CHECK(left("1000") == 480s);  // 5000 in ten minutes
    CHECK_FALSE(left("499").has_value());
    CHECK_FALSE(left("new").has_value());
}

limit_rules per_namespace() {
    return {.global = {.hourly = 100}, .limits = {limit_named("per-namespace", {"namespace"}, {.hourly = 10})}};
}

suggestion find(observed_demand& demand, const series_limiter& limiter, demand_scope scope, time_point now) {
    for (const suggestion& each : demand.suggest(limiter, now, {}).shown)
        if (each.scope == scope) return each;
    FAIL("no such suggestion");
    return {};
}

TEST_CASE("what a limiter was asked for becomes a suggestion, and outlives the process") {
    observed_demand demand;
    labelled_offering gate{per_namespace(), at(10)};
    gate.offer({.labels = {{"namespace", "a"}}, .count = 14}, at(10));
    demand.look(gate.limiter, at(10, 30));
    CHECK(find(demand, gate.limiter, demand_scope::group, at(10, 30)).hourly.windows == 0);
    gate.limiter.maintain(at(11));
    demand.look(gate.limiter, at(11));
    const suggestion group = find(demand, gate.limiter, demand_scope::group, at(11));
    CHECK(group.hourly.windows == 1);
    CHECK(group.hourly.demand == 0);
    CHECK(group.hourly.peak == 14);
    CHECK(group.hourly.suggested == 21u);
    CHECK(find(demand, gate.limiter, demand_scope::global, at(11)).hourly.peak == 10);

    const std::string bytes = saved_text(demand);
    observed_demand after;
    REQUIRE(loads_text(after, bytes));
    CHECK(find(after, gate.limiter, demand_scope::group, at(11)).hourly.peak == 14);
    CHECK_FALSE(loads_text(after, std::string_view{bytes}.substr(1)));
    CHECK(find(after, gate.limiter, demand_scope::group, at(11)).hourly.peak == 14);
}

TEST_CASE("hours pass for those who are asked for nothing, too") {
    observed_demand demand;
    labelled_offering gate{per_namespace(), at(10)};
    gate.offer({.labels = {{"namespace", "a"}}, .count = 5}, at(10));
    gate.limiter.maintain(at(11));
    demand.look(gate.limiter, at(11));
    CHECK(find(demand, gate.limiter, demand_scope::limit, at(11)).hourly.peak == 5);
    leap(gate.limiter, at(11, 0, 0, 1));  // 25 hours after that hour began
    demand.look(gate.limiter, at(11, 6, 0, 1));
    CHECK(find(demand, gate.limiter, demand_scope::limit, at(11, 6, 0, 1)).hourly.peak == 0);
    CHECK(find(demand, gate.limiter, demand_scope::limit, at(11, 6, 0, 1)).daily.peak == 5);
}

TEST_CASE("counts are noted now and then, and tell when a budget is exhausted") {
    observed_demand demand;
    labelled_offering gate{per_namespace(), at(10)};
    gate.offer({.labels = {{"namespace", "a"}}, .count = 2}, at(10));
    demand.look(gate.limiter, at(10));
    demand.look(gate.limiter, at(10, 2));
    demand.look(gate.limiter, at(10, 4));  // not yet: the first one counts
    gate.offer({.labels = {{"namespace", "a"}}, .first = 2, .count = 2}, at(10, 4));
    CHECK(find(demand, gate.limiter, demand_scope::group, at(10, 6)).hourly.exhausted_in == std::chrono::minutes{12});
}

TEST_CASE("what returns in the first minutes of a gate is no rate") {
    observed_demand demand;
    labelled_offering gate{per_namespace(), at(10, 30)};
    demand.look(gate.limiter, at(10, 30));
    gate.offer({.labels = {{"namespace", "a"}}, .count = 5}, at(10, 31));
    demand.look(gate.limiter, at(10, 32));
    CHECK_FALSE(find(demand, gate.limiter, demand_scope::group, at(10, 33)).hourly.exhausted_in);
}

}  // namespace
}  // namespace seriesgate::testing::suggestions_test
