"""What a restart does not forget: state.dir."""

import json
import os

import recorded
import servers
from kept_state import FAILURES, SAVES, directory, forgets_nothing, kept, remembered, settled  # noqa: F401 (a fixture)
from traffic import numbered, offer
from waiting import eventually
from world import time


def test_a_restart_forgets_nothing(limited, upstream, directory):  # noqa: F811
    forgets_nothing(limited, upstream, directory, "stop")


def test_many_series_and_many_refusals_are_remembered(limited, upstream, directory):  # noqa: F811
    text = kept(directory, "maxHourlySeries: 10000\nfalsePositiveRate: 0.000000001\n")
    gate = limited(text)
    for body in recorded.bodies():
        assert gate.send(body).status == 204
    before = gate.stats
    gate.stop()
    gate = limited(text)
    assert remembered(gate.stats) == remembered(before)
    for body in recorded.bodies():
        gate.send(body)
    windows = gate.stats["windows"]["hourly"]
    assert (windows["currentSeries"], windows["refusedSeries"]) == (
        10_000, before["windows"]["hourly"]["refusedSeries"])


def test_without_a_directory_nothing_is_kept_or_written(limited, upstream, tmp_path):
    gate = limited("maxHourlySeries: 5\n")
    offer(gate, upstream, numbered(9))
    files = set(os.listdir(tmp_path))
    gate.stop()
    assert set(os.listdir(tmp_path)) == files
    assert limited("maxHourlySeries: 5\n").current() == 0


def test_what_was_seen_is_saved_each_minute(limited, upstream, directory):  # noqa: F811
    text = kept(directory, "", "1m")
    gate = limited(text)
    offer(gate, upstream, numbered(3, name="seen"))
    time.sleep(61)
    gate.crash()
    top = json.loads(limited(text).get("/api/v1/top?by=metric&kind=new").body)["data"]
    assert [entry["value"] for entry in top] == ["seen"]


def test_saves_are_counted_and_measured(limited, upstream, directory):  # noqa: F811
    gate = limited(kept(directory, "maxHourlySeries: 5\n", "100ms"))
    assert (gate.metric(SAVES), gate.metric(FAILURES)) == (0, 0)
    offer(gate, upstream, numbered(3))
    eventually(lambda: gate.metric(SAVES) >= 1, "a save is counted")
    settled(directory)
    saves = gate.metric(SAVES)
    assert saves >= 1 and gate.metric(FAILURES) == 0
    assert gate.metric("seriesgate_state_bytes") == (directory / "state").stat().st_size
    offer(gate, upstream, numbered(4))
    eventually(lambda: gate.metric(SAVES) > saves, "what is new is saved")
    servers.check_metrics(gate.get("/metrics").body)
    assert sorted(os.listdir(directory)) == ["lock", "secret", "state", "takeover"]
