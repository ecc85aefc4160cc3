"""Budgets that refuse nothing: limits in observe mode, and series that are exempt."""

import json

from faked_clock import FakedClock
from traffic import figures, limits, numbered, offer, tenants
from waiting import eventually


def test_a_limit_that_observes_leaves_the_others_alone(limited, upstream):
    gate = limited("""
limits:
  - {name: watched, each: [job], mode: observe, maxHourlySeries: 4}
  - {name: enforced, each: [job], maxHourlySeries: 6}
""")
    series = numbered(9, job="a")
    assert offer(gate, upstream, series) == series[:6]
    shown = {key[0]: (entry["mode"], *figures(entry)) for key, entry in limits(gate.stats).items()}
    # The watched limit would have refused two that came in and the three that the other one refuses as well.
    assert shown == {"watched": ("observe", 4, 4, 5), "enforced": ("enforce", 6, 6, 3)}


def test_observing_everything_refuses_nothing(limited, upstream):
    gate = limited("""
mode: observe
maxHourlySeries: 10
maxDailySeries: 20
tenants: {default: {maxHourlySeries: 15, maxDailySeries: 5}}
limits: [{name: per-job, each: [job], maxHourlySeries: 12, mode: enforce}]
""")
    series = numbered(50, job="a")
    for _ in range(2):
        assert offer(gate, upstream, series) == series
    stats = gate.stats
    assert stats["samples"] == {"received": 100, "accepted": 100, "refused": 0, "stored": 100, "failed": 0, "leftOut": 0}
    entry, = stats["limits"]
    assert (entry["mode"], figures(entry)) == ("observe", (12, 12, 38))
    team = tenants(stats)[""]
    assert (figures(team), figures(team, "daily")) == ((15, 15, 35), (5, 5, 45))
    windows = stats["windows"]
    assert (figures(windows), figures(windows, "daily")) == ((10, 10, 40), (20, 20, 30))
    assert [windows[window]["refusedSamples"] for window in ("hourly", "daily")] == [0, 0]


EXEMPT = """
maxHourlySeries: 3
maxDailySeries: 5
tenants: {default: {maxHourlySeries: 2}}
limits: [{name: all, maxHourlySeries: 1}]
exempt: ['{__name__=~"up|ALERTS.*"}', '{"keep.me"="yes"}']
"""


def test_exempt_series_are_always_admitted_and_take_no_room(limited, upstream):
    gate = limited(EXEMPT)
    exempt = numbered(20, name="up") + numbered(3, name="ALERTS_FOR_STATE") + numbered(4, **{"keep.me": "yes"})
    assert offer(gate, upstream, exempt) == exempt
    assert offer(gate, upstream, numbered(5, name="upper") + exempt) == numbered(1, name="upper") + exempt
    more = numbered(6, name="ALERTS", start=50)
    assert offer(gate, upstream, more, "team") == more
    stats = gate.stats
    assert stats["exempt"] == {"hourlySeries": 33, "dailySeries": 33}
    assert figures(stats["windows"]) == (3, 1, 4)
    assert {key: figures(entry) for key, entry in limits(stats).items()} == {
        ("all",): (1, 1, 4), ("exempt", ""): (100000, 27, 0), ("exempt", "team"): (100000, 6, 0)}
    assert figures(tenants(stats)[""]) == (2, 1, 0)
    assert "team" not in tenants(stats)  # it has nothing but exempt series
    assert stats["samples"]["refused"] == 4
    for window in ("hourly", "daily"):
        assert gate.metric("seriesgate_series_exempt", window=window) == 33


# --- as many of a tenant as maxExemptSeries, and beyond that like others

CONFIG = """
maxHourlySeries: 5
exempt: [up]
maxExemptSeries: 10
"""


def test_a_name_that_is_exempt_is_no_way_around_a_limit(limited, upstream):
    gate = limited(CONFIG)
    assert len(offer(gate, upstream, numbered(3000, name="up"))) == 10 + 5
    assert len(offer(gate, upstream, numbered(3000, name="up"), "team")) == 10
    assert gate.stats["exempt"] == {"hourlySeries": 20, "dailySeries": 20}
    shown = {each["tenant"]: each["hourly"] for each in gate.stats["limits"]}
    assert {tenant: (of["maxSeries"], of["currentSeries"]) for tenant, of in shown.items()} == {"": (10, 10), "team": (10, 10)}
    assert shown["team"]["refusedSeries"] > 2900
    assert gate.metric("seriesgate_limit_series_max", limit="exempt", group="", tenant="team", mode="observe",
                       window="hourly") == 10


def test_who_reads_the_log_or_the_findings_learns_of_it_though_nothing_is_refused(limited, upstream):
    gate = limited("exempt: [up]\nmaxExemptSeries: 10\n")
    series = numbered(3000, name="up", job="loud")
    assert offer(gate, upstream, series) == series
    found, = json.loads(gate.get("/api/v1/findings").body)["data"]
    assert (found["metrics"], found["label"], found["job"]) == (["up"], "n", "loud")
    offer(gate, upstream, series)  # known: of them nothing is said
    gate.stop()
    line, = gate.said("exempt series beyond their limit")
    assert (line["samples"], line["limit"], line["window"], line["max"], line["current"]) == (
        "2990", "exempt", "hourly", "10", "10")
    assert not gate.said("series refused")


def test_the_hour_is_named_where_all_its_room_is_kept_for_those_of_before(limited, upstream, tmp_path):
    clock = FakedClock(tmp_path / "clock", "2026-03-10 12:30:00")
    gate = limited("exempt: [up]\nmaxExemptSeries: 10\n", environment=clock.environment)
    offer(gate, upstream, numbered(10, name="up"))
    clock.set("2026-03-10 13:00:01")
    eventually(lambda: gate.stats["windows"]["hourly"]["currentSeries"] == 0, "another hour")
    offer(gate, upstream, numbered(3, start=10, name="up"))
    gate.stop()
    line, = gate.said("exempt series beyond their limit")
    assert (line["samples"], line["window"], line["max"], line["current"]) == ("3", "hourly", "10", "0")
