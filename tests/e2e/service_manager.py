"""What systemd hears of a gate, and a thread of it that is stuck."""

import ctypes
import os
import socket
import struct
import time
from pathlib import Path


SO_TIMESTAMPNS = 35  # asm-generic/socket.h: the kernel says when a datagram was sent


class ServiceManager:
    """Listens where NOTIFY_SOCKET says; `heard` are the datagrams so far, as (seconds of time.monotonic() when it was sent, text)."""

    def __init__(self, folder):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.address = str(folder / "notify")
        self.socket.bind(self.address)
        self.socket.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        self._ahead = time.time() - time.monotonic()
        self.socket.settimeout(0.05)
        self._heard = []

    def environment(self, watchdog=None, pid=None):
        """For a gate that it starts. @param watchdog in seconds"""
        made = {"NOTIFY_SOCKET": self.address}
        if watchdog:
            made["WATCHDOG_USEC"] = str(int(watchdog * 1e6))
        if pid:
            made["WATCHDOG_PID"] = str(pid)
        return made

    @property
    def heard(self):
        while True:
            try:
                text, extra, _, _ = self.socket.recvmsg(4096, 128)
            except TimeoutError:
                return self._heard
            stamp, = [data for level, kind, data in extra if (level, kind) == (socket.SOL_SOCKET, SO_TIMESTAMPNS)]
            seconds, nanoseconds = struct.unpack("qq", stamp)
            self._heard.append((seconds + nanoseconds / 1e9 - self._ahead, text.decode()))

    def times(self, text):
        """When this was sent."""
        return [when for when, heard in self.heard if heard == text]

    @property
    def texts(self):
        return [text for _, text in self.heard]

    def stop(self):
        self.socket.close()


#: From sys/ptrace.h and sys/wait.h.
PTRACE_DETACH, PTRACE_SEIZE, PTRACE_INTERRUPT, WALL = 17, 0x4206, 0x4207, 0x40000000


class StuckThread:
    """One thread of a process, by its name, stops where it is; the others run. Until the end of the `with` block."""

    def __init__(self, process, name):
        self._task = next(int(task.name) for task in Path(f"/proc/{process}/task").iterdir()
                          if (task / "comm").read_text().strip() == name)
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
        self._libc.ptrace.restype = ctypes.c_long

    def _trace(self, request):
        if self._libc.ptrace(request, self._task, None, None) != 0:
            raise OSError(ctypes.get_errno(), "ptrace")

    def __enter__(self):
        self._trace(PTRACE_SEIZE)
        self._trace(PTRACE_INTERRUPT)
        os.waitpid(self._task, WALL)
        return self

    def __exit__(self, *_):
        self._trace(PTRACE_DETACH)


def threads(process):
    """The names of all its threads."""
    return [(task / "comm").read_text().strip() for task in Path(f"/proc/{process}/task").iterdir()]
