"""maxActiveSeries: series that had a sample within activeWindow."""

import json

import pytest

import culprits
import wire
from kept_state import directory, kept  # noqa: F401 (a fixture)
from traffic import numbered, offer
from waiting import eventually
from world import time

START = "2026-03-10 12:00:05"
TEN = "seriesSet: exact\nmaxActiveSeries: 10\n"


@pytest.fixture
def timed(limited, clock):
    return lambda text: limited(text, environment=clock.environment)


def explained(gate, number):
    return json.loads(gate.get(f"/api/v1/explain?series=m%7Bn%3D%22{number}%22%7D").body)["data"]


def minute(gate, clock, now):
    """The clock moves, and the gate has looked at it."""
    clock.set(f"2026-03-10 {now}")
    time.sleep(0.3)


def test_a_slot_is_free_when_a_series_has_been_idle(timed, clock, upstream):
    gate = timed(TEN)
    assert len(offer(gate, upstream, numbered(20))) == 10
    assert gate.current("active") == 10
    for at in ("12:05:00", "12:10:59"):
        minute(gate, clock, at)
        assert len(offer(gate, upstream, numbered(6))) == 6
        assert gate.current("active") == 10
        assert offer(gate, upstream, numbered(20, start=10)) == []
    minute(gate, clock, "12:11:00")
    eventually(lambda: gate.current("active") == 6, "four are idle")
    assert len(offer(gate, upstream, numbered(20, start=10))) == 4
    assert gate.current("active") == 10


def test_a_stale_marker_frees_the_slot_at_once(timed, upstream):
    gate = timed(TEN)
    offer(gate, upstream, numbered(10))
    assert offer(gate, upstream, numbered(3, start=10)) == []
    stale = wire.field(wire.SAMPLES, wire.sample(wire.STALE, 1_700_000_000_000))
    gate.send(wire.pack(b"".join(wire.series(labels, stale) for labels in numbered(3))))
    assert gate.current("active") == 7
    time.sleep(0.3)  # those refused lately are asked again
    assert len(offer(gate, upstream, numbered(3, start=10))) == 3
    assert gate.current("active") == 10


def test_counts_come_back_with_a_restart(timed, clock, upstream, directory):  # noqa: F811
    text = kept(directory, TEN + "limits: [{name: jobs, each: [job], maxActiveSeries: 4}]\n")
    gate = timed(text)
    assert len(offer(gate, upstream, numbered(8, job="a"))) == 4
    assert len(offer(gate, upstream, numbered(3, job="b"))) == 3
    gate.stop()
    minute(gate, clock, "12:30:00")
    gate = timed(text)
    assert gate.current("active") == 7
    assert offer(gate, upstream, numbered(8, job="a")) == numbered(4, job="a")
    assert len(offer(gate, upstream, numbered(8, job="b"))) == 4
    minute(gate, clock, "12:40:59")
    assert gate.current("active") == 8  # nobody could send while the gate was down, so an activeWindow begins with its start
    minute(gate, clock, "12:41:00")
    eventually(lambda: gate.current("active") == 0, "all are idle")


def test_everything_that_tells_of_limits_tells_of_active_series(timed, upstream):
    gate = timed(TEN + "tenants: {default: {maxActiveSeries: 20}}\n")
    offer(gate, upstream, numbered(15))
    window = gate.stats["windows"]["active"]
    assert window == {"maxSeries": 10, "currentSeries": 10, "refusedSeries": 5, "refusedSeriesExact": True,
                      "refusedSamples": 5, "overLimitSeries": 0, "windowSeconds": 600,
                      "combinationBytes": window["combinationBytes"]}
    assert gate.stats["windows"]["hourly"]["refusedSeries"] == 0
    (tenant,) = gate.stats["tenants"]
    assert (tenant["active"]["maxSeries"], tenant["active"]["currentSeries"]) == (20, 10)
    for name, value in (("max", 10), ("current", 10), ("refused", 5)):
        assert gate.metric(f"seriesgate_series_{name}", window="active") == value
    (line,) = gate.said("series refused")
    assert (line["window"], line["limit"], line["max"], line["current"]) == ("active", "global", "10", "10")
    why = explained(gate, 12)
    assert why["decision"] == "refused"
    assert why["why"].endswith("maxActiveSeries 10 is spent (10 series active)")
    assert why["active"] == {"active": False, "lastSeen": None}
    known = explained(gate, 2)
    assert known["active"] == {"active": True, "lastSeen": "2026-03-10T12:00:00Z"}
    assert known["why"].endswith("; it is active")
    page = gate.get("/").body.decode()
    assert "Data is withheld: 5 new series refused this hour" in page
    assert "the global limit has no room for active series" in page
    assert "Limits of active series have room again as others go idle." in page


def test_filters_count_no_active_series(limited):
    gate = limited("maxHourlySeries: 10\n")
    assert "active" not in gate.stats["windows"]
    assert 'window="active"' not in gate.get("/metrics").body.decode()


def test_a_suggestion_goes_by_the_most_active_series_at_one_time(timed, clock, upstream):
    """Three times ten series one after the other: the hour has thirty, and no more than ten at one time."""
    gate = timed("seriesSet: exact\nmaxHourlySeries: 100\nmaxActiveSeries: 12\nactiveWindow: 1m\n")
    for at in (0, 3, 6):
        minute(gate, clock, f"12:0{at}:05")
        assert len(offer(gate, upstream, numbered(10, start=at * 10))) == 10
    offer(gate, upstream, numbered(5, start=1000))
    found = culprits.ask(gate, "suggestions")[0]
    assert found["hourly"]["demand"] == 32
    assert found["active"] == {"maxSeries": 12, "demand": 15, "peak": 15, "typical": None, "windows": 0,
                               "suggested": 19, "headroom": -3, "exhaustedInSeconds": None}
    assert "maxActiveSeries: 19" in found["yaml"]
    minute(gate, clock, "13:00:30")
    eventually(lambda: culprits.ask(gate, "suggestions")[0]["active"]["windows"] == 1, "the hour is kept")
    found = culprits.ask(gate, "suggestions")[0]["active"]
    assert (found["peak"], found["typical"]) == (15, 15)
