"""What a restart does not forget: state.dir."""

import os

import pytest

import recorded
import servers
import traffic
from gate import run
from test_life_cycle import why_it_cannot_serve
from traffic import figures, limits, numbered, offer, tenants
from waiting import eventually

SAVES, FAILURES = "seriesgate_state_saves_total", "seriesgate_state_save_failures_total"


@pytest.fixture
def directory(tmp_path):
    return tmp_path / "state"


def kept(directory, text, interval="1h"):
    """A configuration with state. With the usual interval only the end of the process saves."""
    return f"state: {{dir: {directory}, interval: {interval}}}\n{text}"


def settled(directory, quiet=60):
    """Waits until everything is saved: intervals of 100 ms pass, and the file is not written anew. So many looks, 10 ms apart:
    while the machine stands still nothing is saved."""
    def identity():
        status = (directory / "state").stat() if (directory / "state").exists() else None
        return status and (status.st_ino, status.st_mtime_ns)

    last, same = None, 0

    def unchanged():
        nonlocal last, same
        now = identity()
        last, same = now, same + 1 if now is not None and now == last else 0
        return same > quiet

    eventually(unchanged, "everything is saved")


def remembered(stats):
    """What of /stats a restart keeps."""
    windows = {name: {key: value for key, value in window.items() if key not in ("falsePositiveRate", "filterBytes")}
               for name, window in stats["windows"].items()}
    return windows, stats["exempt"], tenants(stats), limits(stats)


RICH = """
maxHourlySeries: 60
maxDailySeries: 70
tenants: {maxTenants: 2, default: {maxHourlySeries: 40}, overrides: {big: {maxHourlySeries: 50, maxDailySeries: 45}}}
limits:
  - {name: all, maxHourlySeries: 1000}
  - {name: per-job, each: [job], maxGroups: 2, maxHourlySeries: 30}
  - {name: per-job-of-tenant, match: '{job!=""}', each: [job, __name__], perTenant: true, maxDailySeries: 12}
  - {name: watched, mode: observe, maxHourlySeries: 5}
exempt: [up]
"""


def offer_much(gate, upstream):
    return [offer(gate, upstream, numbered(20, job=job) + numbered(2, name="up", job=job), tenant)
            for tenant in ("big", "a", "b", "c", None) for job in ("x", "y\n\\\"", "z", "")]


@pytest.mark.parametrize("end", ["stop", "crash"])
def test_a_restart_forgets_nothing(limited, upstream, directory, end):
    text = kept(directory, RICH, "100ms" if end == "crash" else "1h")
    gate = limited(text)
    admitted = offer_much(gate, upstream)
    before = gate.stats
    assert sum(map(len, admitted)) == before["windows"]["hourly"]["currentSeries"] + 40 == 100, admitted
    if end == "crash":
        settled(directory)
    getattr(gate, end)()

    gate = limited(text)
    assert remembered(gate.stats) == remembered(before)
    assert set(gate.stats["samples"].values()) == {0}  # those are the process's own
    assert offer_much(gate, upstream) == admitted
    # The same refusals again are no others; but a budget that was not yet spent then may refuse them as well by now.
    for name in ("tenants", "limits"):
        found, expected = ({key: (figures(entry)[:2], figures(entry, "daily")[:2]) for key, entry in of.items()}
                           for of in (getattr(traffic, name)(stats) for stats in (gate.stats, before)))
        assert found == expected
    for window in ("hourly", "daily"):
        assert gate.current(window) == before["windows"][window]["currentSeries"]


def test_many_series_and_many_refusals_are_remembered(limited, upstream, directory):
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


def test_many_restarts_forget_nothing(limited, upstream, directory):
    text = kept(directory, "limits: [{name: per-job, each: [job], maxHourlySeries: 6}]\n")
    for at in range(5):
        gate = limited(text)
        assert len(offer(gate, upstream, numbered(2 * at + 2, job="a"))) == min(2 * at + 2, 6)
        gate.stop()
    assert figures(limits(limited(text).stats, "per-job")["a"]) == (6, 6, 4)


def test_a_crash_forgets_what_no_interval_has_saved(limited, upstream, directory):
    gate = limited(kept(directory, "maxHourlySeries: 5\n"))
    assert len(offer(gate, upstream, numbered(9))) == 5
    gate.crash()
    gate = limited(kept(directory, "maxHourlySeries: 5\n"))
    assert gate.current() == 0
    assert "error" not in gate.log
    assert offer(gate, upstream, numbered(9, start=4)) == numbered(5, start=4)


def test_without_a_directory_nothing_is_kept_or_written(limited, upstream, tmp_path):
    gate = limited("maxHourlySeries: 5\n")
    offer(gate, upstream, numbered(9))
    files = set(os.listdir(tmp_path))
    gate.stop()
    assert set(os.listdir(tmp_path)) == files
    assert limited("maxHourlySeries: 5\n").current() == 0


# --- other limits after the restart

CHANGES = {
    "raised": ("maxHourlySeries: 5\n", "maxHourlySeries: 8\n", [5, 8], (8, 8)),
    "lowered": ("maxHourlySeries: 5\n", "maxHourlySeries: 3\n", [5, 5], (3, 5)),
    "new": ("", "maxHourlySeries: 7\n", [12, 12], (7, 12)),
    "gone": ("maxHourlySeries: 5\n", "", [5, 12], (0, 12)),
}


@pytest.mark.parametrize("before, after, admitted, shown", CHANGES.values(), ids=CHANGES)
def test_a_global_limit_changed_between_applies_to_the_kept_count(limited, upstream, directory, before, after,
                                                                  admitted, shown):
    for text, count in zip((before, after), admitted, strict=True):
        gate = limited(kept(directory, text))
        assert offer(gate, upstream, numbered(12)) == numbered(count)
        found = figures(gate.stats["windows"])
        gate.stop()
    assert found[:2] == shown


def test_other_limits_changed_between_apply_to_the_kept_counts(limited, upstream, directory):
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


def test_fewer_tenants_and_groups_after_the_restart_lose_no_count(limited, upstream, directory):
    text = ("tenants: {{maxTenants: {0}}}\n"
            "limits: [{{name: per-job, each: [job], maxGroups: {0}, maxHourlySeries: 50}}]\n")
    gate = limited(kept(directory, text.format(10)))
    for name in "abcde":
        assert len(offer(gate, upstream, numbered(4, job=name), name)) == 4
    gate.stop()
    stats = limited(kept(directory, text.format(2))).stats
    assert sum(entry["hourly"]["currentSeries"] for entry in stats["tenants"]) == 20
    assert sum(entry["hourly"]["currentSeries"] for entry in stats["limits"]) == 20


# --- the directory

def test_the_directory_is_made(limited, upstream, tmp_path):
    directory = tmp_path / "var" / "lib" / "state"
    gate = limited(kept(directory, ""))
    offer(gate, upstream, numbered(3))
    gate.stop()
    assert (directory / "state").stat().st_size > 0


def test_a_second_process_on_the_same_directory_is_one_clear_line(limited, upstream, directory, tmp_path):
    text = kept(directory, "maxHourlySeries: 5\n")
    first = limited(text)
    offer(first, upstream, numbered(3))
    line = why_it_cannot_serve(run(f"--config.file={first.config_file}", "--upstream.url=discard:", "--listen=127.0.0.1:0"))
    assert str(directory) in line and "in use" in line
    assert offer(first, upstream, numbered(9)) == numbered(5)
    first.crash()
    second = limited(text)  # the lock has gone with the process
    assert second.send(b"bad").status == 400


@pytest.mark.parametrize("place", ["{tmp}/file/state", "/proc/seriesgate", "{tmp}/file"])
def test_a_directory_that_cannot_be_written_is_one_clear_line(tmp_path, place):
    (tmp_path / "file").write_text("in the way")
    directory = place.format(tmp=tmp_path)
    file = tmp_path / "gate.yaml"
    file.write_text(kept(directory, ""))
    line = why_it_cannot_serve(run(f"--config.file={file}", "--upstream.url=discard:", "--listen=127.0.0.1:0"))
    assert "state.dir" in line and directory in line


def test_saves_are_counted_and_measured(limited, upstream, directory):
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


def test_a_save_that_fails_is_told_and_tried_again(limited, upstream, directory):
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
