"""What an attack may cost the gate: memory, CPU and time, read from /proc."""

import contextlib
import mmap
import os
import re
from pathlib import Path

from gate import sanitized
from world import time

MIB = 1 << 20


def memory(gate):
    """Resident memory now, in bytes."""
    return status(gate, "VmRSS")


def reset_peak(gate):
    with open(f"/proc/{gate.pid}/clear_refs", "w") as file:
        file.write("5")


def cpu_seconds(gate):
    """User and system time of all threads so far."""
    return sum(map(int, _stat(gate)[11:13])) / os.sysconf("SC_CLK_TCK")


def page_faults(gate):
    """Pages that had to be fetched or zeroed so far, those on a disk apart."""
    return int(_stat(gate)[7])


def waited_for_a_core(pid, thread):
    """Seconds so far in which the thread could have run, and no core was free."""
    return int(Path(f"/proc/{pid}/task/{thread}/schedstat").read_text().split()[1]) / 1e9


def waits_for_a_core(pid):
    """{thread: what waited_for_a_core() says}"""
    waited = {}
    for folder in Path(f"/proc/{pid}/task").iterdir():
        with contextlib.suppress(OSError):  # a thread that has ended
            waited[folder.name] = waited_for_a_core(pid, folder.name)
    return waited


def stolen():
    """[seconds so far in which the host of this virtual machine gave the core to others], of each core"""
    with open("/proc/stat") as file:
        return [int(line.split()[8]) / os.sysconf("SC_CLK_TCK") for line in file if re.match(r"cpu\d", line)]


class OwnTime:
    """Measures without the time in which the gate, or who sends, waits for a core that others have. From its construction on, or
    from the start of the gate, which `began` at that time."""

    def __init__(self, gate, began=None):
        self._pids = (gate.pid, os.getpid())
        self._waited, self._stolen = [{} if began else waits_for_a_core(gate.pid), waits_for_a_core(os.getpid())], stolen()
        self._began = began or time.monotonic()

    def so_far(self):
        """(all seconds, those of them for want of a core)"""
        took = time.monotonic() - self._began
        waited = sum(max(seconds - before.get(thread, 0) for thread, seconds in waits_for_a_core(pid).items())
                     for before, pid in zip(self._waited, self._pids))
        return took, waited + max(after - before for before, after in zip(self._stolen, stolen()))

    def seconds(self):
        took, others_had = self.so_far()
        return took - others_had


FAULT_SECONDS = 1e-6  # what one takes where the kernel has the memory to itself


def excess_of_a_fault():
    """Seconds of CPU that this machine takes for a fresh page above FAULT_SECONDS: on some virtual ones it is fifteen times as
    much, and most of what a giant request costs. The least of three, so that what disturbs one of them excuses nothing."""
    return max(0.0, min(_fault_seconds() for _ in range(3)) - FAULT_SECONDS)


def _fault_seconds():
    size, some = 4 << 20, b"x" * (1 << 20)
    began = time.thread_time()
    with mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as fresh:
        for at in range(0, size, len(some)):
            fresh[at:at + len(some)] = some
    return (time.thread_time() - began) / (size / mmap.PAGESIZE)


@contextlib.contextmanager
def within(gate, memory_mib=None, cpu=None, seconds=None, cores=0):
    """What happens inside may raise the gate's peak by so many MiB, take so many seconds of CPU and `cores` of as long as it
    lasts, and last so long.

    It is its OwnTime that may last so long.

    The bounds are those of a release build. A sanitizer's binary keeps freed memory for a while and is many times
    slower, so there they are wider, and it is the sanitizer's report that counts.
    """
    slow = sanitized("asan", "tsan", "ubsan")
    reset_peak(gate)
    resident, used, faults, own_time = memory(gate), cpu_seconds(gate), page_faults(gate), OwnTime(gate)
    yield
    assert gate.running, gate.log
    (took, others_had), spent = own_time.so_far(), cpu_seconds(gate) - used
    grown = (status(gate, "VmHWM") - resident) / MIB
    if memory_mib is not None:
        assert grown <= (memory_mib * 6 + 512 if slow else memory_mib), f"{grown:.0f} MiB"
    if cpu is not None:
        faulting = (page_faults(gate) - faults) * excess_of_a_fault()
        assert spent - faulting <= (cpu + cores * took) * (25 if slow else 1), f"{spent:.2f} s of CPU in {took:.2f}, {faulting:.2f} of it for slow page faults"
    if seconds is not None:
        assert took - others_had <= seconds * (10 if slow else 1), f"{took:.2f} s, {others_had:.2f} of it for want of a core"


def _stat(gate):
    return Path(f"/proc/{gate.pid}/stat").read_text().rsplit(")", 1)[1].split()


def status(gate, key):
    """Bytes that /proc/PID/status tells."""
    return int(re.search(rf"^{key}:\s+(\d+) kB$", Path(f"/proc/{gate.pid}/status").read_text(), re.MULTILINE)[1]) * 1024
