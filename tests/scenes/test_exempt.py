"""Series that `exempt` selects: as many of a tenant as maxExemptSeries, and beyond that like others."""

import json

from faked_clock import FakedClock
from traffic import numbered, offer
from waiting import eventually

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


def test_what_was_let_in_stays_whatever_comes(limited, upstream):
    gate = limited(CONFIG)
    healthy = numbered(8, name="up", job="healthy")
    assert offer(gate, upstream, healthy) == healthy
    offer(gate, upstream, numbered(3000, name="up"))
    offer(gate, upstream, numbered(3000, name="other"))
    assert offer(gate, upstream, healthy) == healthy


def test_a_reload_makes_room_at_once(limited, upstream):
    gate = limited(CONFIG)
    series = numbered(100, name="up")
    assert len(offer(gate, upstream, series)) == 15
    assert gate.reload(gate.config_file.read_text().replace("maxExemptSeries: 10", "maxExemptSeries: 40")).status == 200
    assert len(offer(gate, upstream, series)) == 15 + 30


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
