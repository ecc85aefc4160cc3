"""monitoring/rules.yaml: when a budget will be full, and when nothing of the kind may be said. Minute 0 is midnight (UTC)."""

import functools

import pytest

import dashboards
import rule_tests
from rule_tests import asks, fires, scenario

pytestmark = [pytest.mark.text, pytest.mark.timeout(180)]  # a day has many minutes

ALERT = "SeriesgateBudgetFullSoon"
GATE = 'job="gate",instance="a"'
check = functools.partial(rule_tests.check, alerts={ALERT})
HOUR, DAY = "hourly", "daily"


def budget(values, window=HOUR, most="1000x3000", mode="enforce"):
    """One of a group of a limit, of a thousand series."""
    figure = f'seriesgate_limit_series_%s{{{GATE},limit="per-ns",group="{{a}}",mode="{mode}",window="{window}"}}'
    return {figure % "current": values, figure % "max": most}


LABELS = f'{{{GATE},limit="per-ns",group="{{a}}",mode="enforce",window="%s"}}'


def quiet(minutes):
    return [fires(ALERT, minute, 0) for minute in minutes]


def firing(minutes):
    return [fires(ALERT, minute, 1) for minute in minutes]


def edge(of_before, minutes):
    """All series come back within `minutes` of the full hour, and a few new ones trickle in."""
    return budget(f"0+{of_before / minutes}x{minutes} {of_before}x{58 - minutes} " * 3)


def rollout(start, minutes):
    """300 new series within minutes, and then no more."""
    return budget(f"600x{start} 600+{300 // minutes}x{minutes} 900x60")


#: Of a budget, and whether it will be full: (series, what has to be said in which minutes).
SCENES = {
    "it grows by 20 in a minute, and is full in minute 45": (
        budget("100+20x45 1000x20"), [*quiet([*range(30), *range(45, 65)]), *firing(range(30, 45))]),
    "it lasts to the end of the hour, and would be full five minutes later": (budget("200+12.3x60"), quiet(range(60))),
    "it is full just before the end": (budget("200+13.7x60"), firing(range(30, 58))),
    "an explosion begins in minute 31: by minute 44 both stretches know enough of it, and then it has to last": (
        budget("100x30 100+40x22 1000x8"), [*quiet(range(49)), *firing(range(49, 53))]),
    "a gate starts without its state, and meets its series again": (budget("800x30 0+400x2 800x30"), quiet(range(60))),
    "the limit is lowered": (budget("500x60", most="1000x30 600x60"), quiet(range(60))),
    "the limit is raised": (budget("500x60", most="1000x30 2000x60"), quiet(range(60))),
    "there is no limit": (budget("100+20x60", most="0x60"), quiet(range(60))),
    "it observes": (budget("100+20x45", mode="observe"), quiet(range(60))),
    # Three hours for the pace, twenty minutes for the return of all, five to last.
    "a day grows by 2 in a minute from 100, and is full in minute 450": (
        budget("100+2x450 1000x60", DAY), [
            *quiet((5, 60, 130, 204, 450, 460)), *firing((205, 300, 449)),
            asks("round(seriesgate:budget_series:full_in_seconds)", 300, (LABELS % DAY, 9000))]),
    "a day lasts to midnight": (budget("100+0.6x900", DAY), quiet(range(150, 900, 50))),
    "a rollout of an hour in a day": (budget("100x300 100+10x60 700x300", DAY), quiet(range(150, 650, 5))),
    "all come back after midnight": (budget("900x1440 0+90x10 900x240", DAY), quiet(range(1430, 1680, 5))),
}

#: The same, whether alerts are looked at before or after what is recorded in the same minute.
IN_EITHER_ORDER = {
    **{f"the return of {of_before} in {minutes} min is not growth": (edge(of_before, minutes), quiet(range(180)))
       for of_before, minutes in ((900, 1), (900, 5), (990, 9), (999, 10))},
    "late in an hour it grows, and would last; early in the next all come back at once, and it is nearly full": (
        budget("700x40 700+5x18 0+186x5 930x54"), quiet(range(119))),
    # What is recorded may be a minute old.
    "growth in the hour before says nothing about the next": (
        budget("100+16x55 996x4 100x60"), [*firing(range(31, 55)), *quiet(range(61, 120))]),
    **{f"a rollout in minute {start}, of {minutes} min": (rollout(start, minutes), quiet(range(60)))
       for start in range(5, 45, 7) for minutes in (1, 4, 10)},
}


def test_it_fires_when_a_budget_will_be_full_and_not_when_it_will_not(tmp_path):
    check(tmp_path, *(scenario(name, series, *said) for name, (series, said) in {**SCENES, **IN_EITHER_ORDER}.items()))


def test_the_order_in_which_rules_are_evaluated_changes_nothing(tmp_path):
    check(tmp_path, *(scenario(name, series, *said) for name, (series, said) in IN_EITHER_ORDER.items()), order=-1)


def another_copy(window):
    """What a second cluster has recorded, in a store of several."""
    return {f'seriesgate:window:remaining_seconds{{window="{window}",cluster="b"}}': "3600-60x59 3600-60x59"}


def test_several_recordings_of_the_rest_of_a_window_are_one(tmp_path):
    panel, = (target for target in dashboards.TARGETS if target.panel == "Full before their window ends")
    text = dashboards.substituted(panel.text, {}, {"job": ["gate"]})
    check(tmp_path, scenario("two clusters", {**GROWN, **another_copy(HOUR)}, *firing(range(30, 45)),
                             asks(f"count({text})", 30, ("{}", 1))))


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
