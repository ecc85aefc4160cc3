"""A server as a process group of its own: started, watched through /proc, and ended as a whole."""

import http.client
import os
import signal
import socket
import ssl
import subprocess
import time
from pathlib import Path

NANOSECONDS_A_TICK = 1_000_000_000 // os.sysconf("SC_CLK_TCK")


class Failed(Exception):
    """Something outside did not do what the comparison needs; the text is for the user."""


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Group:
    """@param command what to run; @param log where its output goes; @param environment more than our own"""

    def __init__(self, name, command, log, environment=None):
        self.name, self.log = name, Path(log)
        with open(self.log, "wb") as output:  # no child of the terminal's group: Ctrl-C reaches the comparison alone
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=output,
                                            start_new_session=True, env={**os.environ, **(environment or {})})

    def wait_ready(self, port, path=None, seconds=20, scheme="http"):
        """Until it answers 200 on `path`, or without one, accepts connections."""
        deadline = time.monotonic() + seconds
        while not _answers(port, path, scheme):
            if self.process.poll() is not None or time.monotonic() > deadline:
                self.stop()
                raise Failed(f"{self.name} did not start:\n{self.last_words()}")
            time.sleep(0.02)

    def last_words(self):
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-10:])

    def cpu_ns(self):
        """User and system time of all its processes so far; the kernel gives it in ticks of 10 ms."""
        ticks = 0
        for pid in self._pids():
            fields = _stat(pid)
            ticks += int(fields[11]) + int(fields[12]) if fields else 0
        return ticks * NANOSECONDS_A_TICK

    def peak_rss(self):
        """Bytes. Pages that processes share count for each of them."""
        return 1024 * sum(int(line.split()[1]) for pid in self._pids() for line in _status(pid)
                          if line.startswith("VmHWM:"))

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                pass
        try:
            os.killpg(self.process.pid, signal.SIGKILL)  # what of it is left
        except ProcessLookupError:
            pass
        self.process.wait()

    def _pids(self):
        pids = [int(entry) for entry in os.listdir("/proc") if entry.isdigit()]
        return [pid for pid in pids if (fields := _stat(pid)) and int(fields[2]) == self.process.pid]


def _answers(port, path, scheme):
    try:
        if path is None:
            socket.create_connection(("127.0.0.1", port), timeout=5).close()
            return True
        return get(port, path, scheme)[0] == 200
    except OSError:
        return False


def connect(port, scheme="http"):
    if scheme == "http":
        return http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    return http.client.HTTPSConnection("127.0.0.1", port, timeout=30, context=ssl._create_unverified_context())


def get(port, path, scheme="http"):
    """@return status, text"""
    connection = connect(port, scheme)
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    finally:
        connection.close()


def _stat(pid):
    """The fields of /proc/PID/stat from the state on, which is the third; nothing if the process has ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None


def _status(pid):
    try:
        return Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return []
