"""A wall clock that a test sets, of a gate or a shared store: stopped_clock.c, preloaded."""

import atexit
import datetime
import functools
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from waiting import eventually
from world import SIMULATED, time

if SIMULATED:
    import simulated

SOURCE = Path(__file__).with_name("stopped_clock.c")


@functools.cache
def library(source=SOURCE):
    """Made once, for all tests of this process."""
    folder = tempfile.mkdtemp(prefix="seriesgate-preloaded-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    made = Path(folder) / f"{source.stem}.so"
    subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-o", made, source], check=True)
    return made


class FakedClock:
    """Stands still at the time that it was set to, so that a test decides on which side of an hour's end a request is.

    Only the wall clock: timeouts and pauses are measured with the monotonic one, which goes on. `runs`: so does this one, from
    the time that it was set to.
    """

    def __init__(self, folder, now, runs=False):
        self._runs = runs
        self._file = Path(folder) / "clock"
        self.environment = {} if SIMULATED else {"LD_PRELOAD": str(library()), "STOPPED_CLOCK_FILE": str(self._file), "TZ": "UTC",
                            # A sanitizer's runtime wants to be loaded first, and does without.
                            "ASAN_OPTIONS": f"{os.environ.get('ASAN_OPTIONS', '')}:verify_asan_link_order=0"}
        self.set(now)

    def set(self, now):
        """`now`: UTC, as in 2026-12-31 23:59:50. Holds for everything that the process does from here on."""
        self.now = now
        if SIMULATED:
            there = datetime.datetime.fromisoformat(now).replace(tzinfo=datetime.timezone.utc)
            simulated.STAGE.set_time(there.timestamp(), stands_still=not self._runs)
            return
        fresh = self._file.with_suffix(".new")
        fresh.write_text(f"{now} {time.monotonic_ns()}" if self._runs else now)
        fresh.rename(self._file)

    def leap(self, gate, to):
        """Sets it to a time that is neither in this hour nor in the next, and waits until the gate believes it."""
        there = datetime.datetime.fromisoformat(to)
        self.set(str(there - datetime.timedelta(minutes=5)))
        self.await_doubt(gate, True)
        self.set(to)
        self.await_doubt(gate, False)

    @staticmethod
    def await_doubt(gate, is_in_doubt):
        """The gate looks at the clock each second."""
        eventually(lambda: gate.metric("seriesgate_clock_in_doubt") == is_in_doubt,
                   f"the clock is {'in doubt' if is_in_doubt else 'believed'}", every=0.2)
