"""A wall clock of the gate's own that a test sets: libfaketime, preloaded (Debian package faketime). Redis and Valkey, which do
not start with that, have stopped_clock.c."""

import datetime
import os
import subprocess
from pathlib import Path

from waiting import eventually

LIBRARY = Path("/usr/lib") / f"{os.uname().machine}-linux-gnu" / "faketime/libfaketimeMT.so.1"
SOURCE = Path(__file__).with_name("stopped_clock.c")


class FakedClock:
    """Stands still at the time that it was set to, so that a test decides on which side of an hour's end a request is.

    Only the wall clock: timeouts and pauses are measured with the monotonic one, which goes on.
    """

    def __init__(self, folder, now):
        self._file = Path(folder) / "clock"
        self.environment = {
            "LD_PRELOAD": str(LIBRARY), "FAKETIME_TIMESTAMP_FILE": str(self._file), "FAKETIME_NO_CACHE": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1", "NO_FAKE_STAT": "1", "TZ": "UTC",
        }
        self.set(now)

    def set(self, now):
        """`now`: UTC, as in 2026-12-31 23:59:50. Holds for everything that the gate does from here on."""
        self.now = now
        fresh = self._file.with_suffix(".new")
        fresh.write_text(now)
        fresh.rename(self._file)

    @property
    def for_servers(self):
        """The environment of a shared store that goes by this clock."""
        library = self._file.with_name("stopped_clock.so")
        if not library.exists():
            subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-o", library, SOURCE], check=True)
        return {"LD_PRELOAD": str(library), "STOPPED_CLOCK_FILE": str(self._file)}

    def leap(self, gate, to):
        """Sets it to a time that is neither in this hour nor in the next, and waits until the gate believes it."""
        there = datetime.datetime.fromisoformat(to)
        self.set(str(there - datetime.timedelta(minutes=5)))
        eventually(lambda: gate.metric("seriesgate_clock_in_doubt") == 1, "the clock is in doubt")
        self.set(to)
        eventually(lambda: gate.metric("seriesgate_clock_in_doubt") == 0, "the clock is believed")


def clean_up(process):
    """A process that was killed has left these behind, and a later one of the same number would not start."""
    for left in (f"faketime_shm_{process.pid}", f"sem.faketime_sem_{process.pid}"):
        (Path("/dev/shm") / left).unlink(missing_ok=True)
