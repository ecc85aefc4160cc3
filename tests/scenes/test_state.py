"""What a restart does not forget: state.dir; and what is in it that is not to be trusted."""

import ctypes
import json
import os
import stat

import pytest

import recorded
import servers
from bounds import within
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


def test_the_kind_may_change_at_each_restart(limited, upstream, directory):  # noqa: F811
    known = 0
    for kind in ("bloom", "exact", "exact", "bloom", "exact", "bloom", "bloom"):
        gate = limited(kept(directory, f"seriesSet: {kind}\nmaxHourlySeries: 100\n"))
        assert gate.current() == known, kind
        assert len(offer(gate, upstream, numbered(known))) == known
        assert gate.current() == known, kind
        known += 10
        assert len(offer(gate, upstream, numbered(known))) == known
        assert gate.current() == known
        gate.stop()


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
    settled(gate, directory)
    saves = gate.metric(SAVES)
    assert saves >= 1 and gate.metric(FAILURES) == 0
    assert gate.metric("seriesgate_state_bytes") == (directory / "state").stat().st_size
    offer(gate, upstream, numbered(4))
    eventually(lambda: gate.metric(SAVES) > saves, "what is new is saved")
    servers.check_metrics(gate.get("/metrics").body)
    assert sorted(os.listdir(directory)) == ["lock", "secret", "state", "takeover"]


# --- what a neighbour may put in the place of a file: the gate neither hangs nor ends (more: tests/attacks)

LIMITS = "maxHourlySeries: 5\n"
OBSTACLES = {
    "fifo": os.mkfifo,
    "directory": lambda path: path.mkdir(),
    "symlink": lambda path: path.symlink_to(path.parent.parent / "victim"),
    "device": lambda path: path.symlink_to("/dev/zero"),
    "socket": lambda path: os.mknod(path, stat.S_IFSOCK | 0o600),
}


@pytest.fixture
def saving(limited, upstream, directory):  # noqa: F811
    """A gate that has saved three of its five series, and its configuration."""
    text = kept(directory, LIMITS, "100ms")
    gate = limited(text)
    assert len(offer(gate, upstream, numbered(3))) == 3
    settled(gate, directory)
    return gate, text


@pytest.mark.parametrize("what", OBSTACLES)
def test_what_is_in_the_way_of_a_save_is_not_waited_for_or_followed(saving, limited, upstream, directory,  # noqa: F811
                                                                    what):
    gate, text = saving
    victim = directory.parent / "victim"
    victim.write_text("untouched")
    saves = gate.metric(SAVES)
    (directory / "state.new").unlink(missing_ok=True)
    OBSTACLES[what](directory / "state.new")
    with within(gate, memory_mib=16, cpu=1, seconds=8):
        assert len(offer(gate, upstream, numbered(5))) == 5
        if what == "directory":
            eventually(lambda: gate.metric(FAILURES) >= 1, "a failed save is counted")
            (directory / "state.new").rmdir()
        eventually(lambda: gate.metric(SAVES) > saves, "it is saved")
        settled(gate, directory)
    assert victim.read_text() == "untouched"
    assert sorted(os.listdir(directory)) == ["lock", "secret", "state", "takeover"]
    gate.crash()
    assert offer(limited(text), upstream, numbered(9)) == numbered(5)


@pytest.mark.parametrize("what", OBSTACLES)
def test_what_is_in_the_place_of_the_state_is_not_read(limited, upstream, directory, what):  # noqa: F811
    directory.mkdir()
    OBSTACLES[what](directory / "state")
    gate = limited(kept(directory, LIMITS))  # listens within seconds, or this fails
    assert "state not loaded, all series are new" in gate.log
    assert str(directory / "state") in gate.log
    assert len(offer(gate, upstream, numbered(9))) == 5
    gate.stop()
    assert (directory / "state").is_dir() == (what == "directory")
    assert not (directory / "state").is_symlink()


# --- a file that is not to be trusted: the gate starts without it, says so once, and writes a good one

OF_JOBS = "maxHourlySeries: 5\nlimits: [{name: per-job, each: [job], maxHourlySeries: 5}]\n"


@pytest.fixture
def good(limited, upstream, directory):  # noqa: F811
    """A state file of five series, and the configuration that goes with it."""
    text = kept(directory, OF_JOBS)
    gate = limited(text)
    assert len(offer(gate, upstream, numbered(9, job="a"))) == 5
    gate.stop()
    file = directory / "state"
    assert file.stat().st_size > 1000
    return file, text


def starts_afresh(limited, upstream, file, text):
    """@return why, as the log has it"""
    gate = limited(text)
    event, = gate.said("state not loaded, all series are new")
    assert gate.errors == [event] and str(file) in event["err"] and event["err"].isprintable()
    assert gate.current() == gate.current("daily") == 0
    assert gate.stats["limits"] == []
    assert offer(gate, upstream, numbered(9, start=4, job="a")) == numbered(5, start=4, job="a")
    gate.stop()
    # What that one has saved is good again.
    gate = limited(text)
    assert not gate.errors
    assert offer(gate, upstream, numbered(9, start=4, job="a")) == numbered(5, start=4, job="a")
    gate.stop()
    return event["err"]


def test_the_good_one_is_taken(limited, upstream, good):
    gate = limited(good[1])
    assert not gate.errors
    assert offer(gate, upstream, numbered(9, start=4, job="a")) == numbered(1, start=4, job="a")


def signed(content):
    """With the checksum at its end, which must be right for anything else to be looked at."""
    xxh3 = ctypes.CDLL("libxxhash.so.0").XXH3_64bits
    xxh3.restype, xxh3.argtypes = ctypes.c_uint64, [ctypes.c_char_p, ctypes.c_size_t]
    return content + xxh3(content, len(content)).to_bytes(8, "little")


# Some: process/state_file_test.cpp and limit/snapshot_damage_test.cpp try every cut and every byte.
DAMAGED = {
    "empty": lambda good: b"",
    "half": lambda good: good[:len(good) // 2],
    "large numbers after a good start": lambda good: b"SGSTATE\n" + b"\x01\0\0\0" + b"\xff" * 1000,
    "ends early, and is signed all the same": lambda good: signed(good[:len(good) * 6 // 10]),
    "ends early by a byte, and is signed all the same": lambda good: signed(good[:-9]),
}


@pytest.mark.parametrize("damage", DAMAGED.values(), ids=DAMAGED)
def test_a_damaged_file(limited, upstream, good, damage):
    file, text = good
    content = file.read_bytes()
    assert signed(content[:-8]) == content
    file.write_bytes(damage(content))
    starts_afresh(limited, upstream, file, text)


@pytest.mark.parametrize("labels", ["[prometheus_replica]", "[replica, cluster]"])
def test_a_file_made_with_other_ignored_labels(limited, upstream, good, labels):
    file, text = good
    why = starts_afresh(limited, upstream, file, f"ignoreLabels: {labels}\n{text}")
    assert "ignoreLabels" in why


def test_what_a_crash_has_left_half_written_is_not_looked_at(limited, upstream, good):
    file, text = good
    (file.parent / "state.new").write_bytes(file.read_bytes()[:1000])
    gate = limited(text)
    assert not gate.errors
    assert gate.current() == 5
    gate.stop()
    assert [path.name for path in sorted(file.parent.iterdir())] == ["lock", "observed", "secret", "state"]
