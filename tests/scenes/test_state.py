"""What a restart does not forget: state.dir."""

import os

import recorded
import servers
from kept_state import FAILURES, SAVES, directory, forgets_nothing, kept, remembered, settled  # noqa: F401 (a fixture)
from traffic import figures, limits, numbered, offer, tenants
from waiting import eventually


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


# --- other limits after the restart

def test_other_limits_changed_between_apply_to_the_kept_counts(limited, upstream, directory):  # noqa: F811
    gate = limited(kept(directory, """
tenants: {default: {maxHourlySeries: 20}}
limits:
  - {name: stays, each: [job], maxHourlySeries: 5}
  - {name: goes, maxHourlySeries: 6}
  - {name: turns, each: [job], maxHourlySeries: 5}
"""))
    assert len(offer(gate, upstream, numbered(9, job="a"), "t")) == 5
    gate.stop()
    gate = limited(kept(directory, """
tenants: {default: {maxHourlySeries: 9}}
limits:
  - {name: comes, maxHourlySeries: 100}
  - {name: turns, each: [job], perTenant: true, maxHourlySeries: 5}
  - {name: stays, each: [job], maxHourlySeries: 7}
"""))
    assert {key: figures(entry)[:2] for key, entry in limits(gate.stats).items()} == {("stays", "a"): (7, 5)}
    assert len(offer(gate, upstream, numbered(9, job="a"), "t")) == 7
    assert len(offer(gate, upstream, numbered(9, job="b"), "t")) == 2
    assert {key: figures(entry)[:2] for key, entry in limits(gate.stats).items()} == {
        ("comes",): (100, 4), ("stays", "a"): (7, 7), ("stays", "b"): (7, 2),
        ("turns", "t", "a"): (5, 2), ("turns", "t", "b"): (5, 2)}
    assert figures(tenants(gate.stats)["t"])[:2] == (9, 9)


# --- the directory

def test_the_directory_is_made(limited, upstream, tmp_path):
    directory = tmp_path / "var" / "lib" / "state"
    gate = limited(kept(directory, ""))
    offer(gate, upstream, numbered(3))
    gate.stop()
    assert (directory / "state").stat().st_size > 0


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


def test_a_save_that_fails_is_told_and_tried_again(limited, upstream, directory):  # noqa: F811
    text = kept(directory, "maxHourlySeries: 5\n", "100ms")
    gate = limited(text)
    obstacle = directory / "state" / "in the way"  # no file takes the place of a directory that is not empty
    obstacle.mkdir(parents=True)
    assert len(offer(gate, upstream, numbered(3))) == 3
    eventually(lambda: gate.metric(FAILURES) >= 1, "a failed save is counted")
    eventually(lambda: gate.said("state not saved"), "the log says so")
    assert gate.metric(SAVES) == 0
    assert str(directory) in gate.said("state not saved")[0]["err"]
    obstacle.rmdir()
    (directory / "state").rmdir()
    eventually(lambda: gate.metric(SAVES) == 1, "it is saved without a further request")
    gate.crash()
    assert offer(limited(text), upstream, numbered(3, start=2)) == numbered(3, start=2)
