"""Gates that keep their counts in a directory, state.dir: what is in it by now, and what a restart remembers."""

from pathlib import Path

import pytest

import traffic
from traffic import figures, limits, numbered, offer, tenants
from waiting import eventually
from world import SIMULATED

SAVES, FAILURES = "seriesgate_state_saves_total", "seriesgate_state_save_failures_total"


@pytest.fixture
def directory(tmp_path):
    return tmp_path / "state"


def kept(directory, text, interval="1h"):
    """A configuration with state. With the usual interval only the end of the process saves."""
    return f"state: {{dir: {directory}, interval: {interval}}}\n{text}"


def settled(gate, directory, quiet=60):
    """Waits until everything is saved: intervals of 100 ms pass, the file is not written anew, and who saves has
    nothing to do. So many looks, 10 ms apart: while the machine stands still nothing is saved."""
    saving = [] if SIMULATED else [task / "stat" for task in Path(f"/proc/{gate.pid}/task").iterdir()
                                   if (task / "comm").read_text().strip() == "saving"]

    def is_at_rest():
        """The thread waits neither for a core nor for a disk."""
        return all(stat.read_text().rsplit(")", 1)[1].split()[0] == "S" for stat in saving)

    def identity():
        status = (directory / "state").stat() if (directory / "state").exists() else None
        return status and (status.st_ino, status.st_mtime_ns)

    last, same = None, 0

    def unchanged():
        nonlocal last, same
        now = identity()
        last, same = now, same + 1 if now is not None and now == last and is_at_rest() else 0
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


def forgets_nothing(limited, upstream, directory, end):
    """@param end how the gate ends: `stop` or `crash`"""
    text = kept(directory, RICH, "100ms" if end == "crash" else "1h")
    gate = limited(text)
    admitted = offer_much(gate, upstream)
    before = gate.stats
    assert sum(map(len, admitted)) == before["windows"]["hourly"]["currentSeries"] + 40 == 100, admitted
    if end == "crash":
        settled(gate, directory)
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
