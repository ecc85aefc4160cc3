"""monitoring/rules.yaml: when a budget will be full, and when nothing of the kind may be said. Minute 0 is midnight (UTC)."""

import pytest

import dashboards
import rule_tests
from rule_tests import asks, fires, scenario

pytestmark = [pytest.mark.text, pytest.mark.timeout(180)]  # a day has many minutes

ALERT = "SeriesgateBudgetFullSoon"
GATE = 'job="gate",instance="a"'
HOUR, DAY = "hourly", "daily"


def budget(values, window=HOUR, most="1000x3000", mode="enforce"):
    """One of a group of a limit, of a thousand series."""
    figure = f'seriesgate_limit_series_%s{{{GATE},limit="per-ns",group="{{a}}",mode="{mode}",window="{window}"}}'
    return {figure % "current": values, figure % "max": most}


LABELS = f'{{{GATE},limit="per-ns",group="{{a}}",mode="enforce",window="%s"}}'


def check(folder, *scenarios, orders=(1,)):
    for order in orders:
        status, text = rule_tests.run(folder, list(scenarios), order)
        assert status == 0, text


EITHER = (1, -1)


def quiet(minutes):
    return [fires(ALERT, minute, 0) for minute in minutes]


def firing(minutes):
    return [fires(ALERT, minute, 1) for minute in minutes]


def test_a_budget_that_grows_fires_from_minute_30_until_it_is_full(tmp_path):
    """20 in a minute: full in minute 45."""
    check(tmp_path, scenario("grows", budget("100+20x45 1000x20"), *quiet([*range(30), *range(45, 65)]), *firing(range(30, 45))))


def test_when_it_is_full_is_exact(tmp_path):
    """600 of 1000 in minute 25, 20 in a minute: 20 minutes."""
    pace, end = "seriesgate:budget_series:growth_ratio", "seriesgate:budget_series:full_in_seconds"
    rest = 'seriesgate:window:remaining_seconds{window="%s"}'
    check(tmp_path, scenario(
        "grows", budget("100+20x45"),
        asks(f"round({pace} * 3600, 0.000001)", 25, (LABELS % HOUR, 1.2)),
        asks(f"round({end}, 0.001)", 25, (LABELS % HOUR, 1200)),
        asks(f"round({end}, 0.001)", 40, (LABELS % HOUR, 300)),
        *(asks(rest % HOUR, minute, (rest % HOUR, seconds)) for minute, seconds in ((0, 3600), (25, 2100), (59, 60), (60, 3600))),
        *(asks(rest % DAY, minute, (rest % DAY, seconds)) for minute, seconds in ((0, 86400), (25, 84900)))))
    late = {"up": "1x1440"}
    check(tmp_path, scenario("midnight", late, *(asks(rest % DAY, minute, (rest % DAY, seconds))
                                                 for minute, seconds in ((1439, 60), (1440, 86400)))))


def test_one_that_lasts_to_the_end_of_its_window_does_not(tmp_path):
    """It would be full five minutes later."""
    check(tmp_path, scenario("lasts", budget("200+12.3x60"), *quiet(range(60))))
    check(tmp_path, scenario("does not", budget("200+13.7x60"), *firing(range(30, 58))))


def test_the_return_of_all_series_at_the_full_hour_is_not_growth(tmp_path):
    """They come back within `minutes`, and a few new ones trickle in, in two hours. At the edge the count falls to nothing."""
    def edge(of_before, minutes):
        hour = f"0+{of_before / minutes}x{minutes} {of_before}x{58 - minutes} "
        return scenario(f"edge, {of_before} in {minutes}", budget(hour * 3), *quiet(range(180)))

    check(tmp_path, *(edge(*row) for row in ((900, 1), (900, 5), (990, 9), (999, 10))), orders=EITHER)


def test_growth_before_the_edge_and_the_return_after_it_do_not_add_up(tmp_path):
    """Late in the first hour it grows, and would last; early in the next all come back at once, and it is nearly full."""
    check(tmp_path, scenario("edge", budget("700x40 700+5x18 0+186x5 930x54"), *quiet(range(119))), orders=EITHER)


def test_growth_in_the_hour_before_says_nothing_about_the_next(tmp_path):
    """It fires in the first hour, and in none of the next: what is recorded may be a minute old."""
    hour = "100+16x55 996x4 "
    check(tmp_path, scenario("edge", budget(hour + "100x60"), *firing(range(31, 55)), *quiet(range(61, 120))), orders=EITHER)


def test_a_rollout_is_not_growth(tmp_path):
    """300 new series within minutes, and then no more."""
    def rollout(start, minutes):
        values = f"600x{start} 600+{300 // minutes}x{minutes} 900x60"
        return scenario(f"rollout in {start}, of {minutes}", budget(values), *quiet(range(60)))

    check(tmp_path, *(rollout(start, minutes) for start in range(5, 45, 7) for minutes in (1, 4, 10)), orders=EITHER)


def test_an_explosion_that_comes_late_is_seen_in_twenty_minutes(tmp_path):
    """It begins in minute 31, with 40 in a minute: by minute 44 both stretches know enough of it, and then it has to last."""
    check(tmp_path, scenario("late", budget("100x30 100+40x22 1000x8"), *quiet(range(49)), *firing(range(49, 53))))


def test_a_gate_that_starts_without_its_state_is_not_growing(tmp_path):
    """In minute 30 it has forgotten its series, and meets them again."""
    check(tmp_path, scenario("restart", budget("800x30 0+400x2 800x30"), *quiet(range(60))))


def test_a_limit_that_is_changed_is_not_growth(tmp_path):
    for most in ("1000x30 600x60", "1000x30 2000x60"):
        check(tmp_path, scenario("changed", budget("500x60", most=most), *quiet(range(60))))


def test_without_a_limit_and_while_it_observes_there_is_none(tmp_path):
    check(tmp_path, scenario("no limit", budget("100+20x60", most="0x60"), *quiet(range(60))),
          scenario("observes", budget("100+20x45", mode="observe"), *quiet(range(60))))


def test_a_budget_of_a_day_that_grows_fires_until_it_is_full(tmp_path):
    """2 in a minute from 100: full in minute 450. Three hours for the pace, twenty minutes for the return of all, five to last."""
    check(tmp_path, scenario("grows", budget("100+2x450 1000x60", DAY), *quiet((5, 60, 130, 204, 450, 460)),
                             *firing((205, 300, 449)), asks("round(seriesgate:budget_series:full_in_seconds)", 300, (LABELS % DAY, 9000))))


def test_a_day_is_looked_at_in_hours(tmp_path):
    check(tmp_path, *(scenario(name, budget(values, DAY), *quiet(minutes)) for name, values, minutes in [
        ("it lasts to midnight", "100+0.6x900", range(150, 900, 50)),
        ("a rollout of an hour", "100x300 100+10x60 700x300", range(150, 650, 5)),
        ("all come back after midnight", "900x1440 0+90x10 900x240", range(1430, 1680, 5))]))


def test_the_budgets_of_all_series_and_of_tenants_are_told_apart(tmp_path):
    def figures(name, labels, values):
        text = f"{GATE},{labels}" if labels else GATE
        figure = f'seriesgate_{name}_%s{{{text},window="hourly"}}'
        return {figure % "current": values, figure % "max": "1000x60"}

    used = "seriesgate:budget_series:used_ratio"
    for observe, mode in ((0, "enforce"), (1, "observe")):
        series = {**figures("series", "", "100+20x45"), f"seriesgate_observe{{{GATE}}}": f"{observe}x60",
                  **figures("tenant_series", f'tenant="shop",mode="{mode}"', "100+20x45")}
        check(tmp_path, scenario(mode, series, fires(ALERT, 30, 0 if observe else 2), asks(
            used, 30, (f'{used}{{{GATE},limit="global",mode="{mode}",window="hourly"}}', 0.7),
            (f'{used}{{{GATE},limit="tenant",mode="{mode}",tenant="shop",window="hourly"}}', 0.7))))


#: The panels whose expressions have data only when budgets have grown for a while, and what they show in minute 30.
PANELS = {
    "Full before their window ends": ("round(%s)", [(HOUR, 900)]),
    "Full in, at the present pace": ("round(%s)", [(HOUR, 900)]),
    "Growth, as a share of the limit an hour": ("round(%s, 0.000001)", [(HOUR, 1.2)]),
}
GROWN = budget("100+20x45")


def test_panels_show_it(tmp_path):
    labels, questions = '{group="{a}",limit="per-ns",mode="enforce",window="%s"}', []
    for panel, (wrapped, shown) in PANELS.items():
        target, = (target for target in dashboards.TARGETS if target.panel == panel)
        for chosen, expected in [({}, shown), ({"limit": ["per-ns"]}, shown), ({"limit": ["other", "per.ns"]}, []),
                                 ({"tenant": ["shop"]}, [])]:
            text = dashboards.substituted(target.text, chosen, {"job": ["gate"]})
            questions.append(asks(wrapped % f"({text})", 30, *((labels % window, value) for window, value in expected)))
    assert len(questions) == 4 * len(PANELS)
    check(tmp_path, scenario("panels", GROWN, *questions))
