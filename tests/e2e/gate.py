"""Starts a gate, knows its port, and stops it: the exit status is part of every test.

It is the real binary; in a simulation (see world.py) the same gate on a network in memory.
"""

import contextlib
import functools
import json
import os
import re
import signal
import ssl
import subprocess
import sys
import threading
from pathlib import Path

import client
import exposition
import log_lines
from waiting import eventually
from world import SIMULATED, time

if SIMULATED:
    import simulated

REPOSITORY = Path(__file__).resolve().parent.parent.parent
BINARY = Path(os.environ.get("SERIESGATE_BIN", REPOSITORY / "build/release/seriesgate")).resolve()


@functools.cache
def sanitized(*sanitizers):
    """Whether the binary was built with one of these sanitizers, "asan", "tsan" or "ubsan"."""
    cache = BINARY.parent / "CMakeCache.txt"  # a binary that is somewhere else has none
    found = re.search(r"^SERIESGATE_SANITIZE:\w+=(.*)$", cache.read_text(), re.MULTILINE) if cache.exists() else None
    names = {"address": "asan", "thread": "tsan", "undefined": "ubsan"}
    return any(names.get(each) in sanitizers for each in found.group(1).split(",")) if found else False


SANITIZER_REPORT = re.compile(r"ERROR: \w+Sanitizer|WARNING: ThreadSanitizer|runtime error:")


def run(*flags, seconds=30, **how):
    """Runs the binary to its end, for command lines that are not meant to serve."""
    return subprocess.run([BINARY, *flags], capture_output=True, text=True, timeout=seconds, **how)


def why_it_comes_to_nothing(*arguments, seconds=30):
    """The one line of a subcommand that has nothing to print."""
    made = run(*arguments, seconds=seconds)
    assert (made.returncode, made.stdout) == (1, ""), made
    line, end = made.stderr.split("\n")
    assert end == "" and line.isprintable()
    return line


def why_it_cannot_serve(result):
    """What the only line says of a run that had a good configuration."""
    assert result.returncode == 2, result
    line, = result.stderr.splitlines()
    event = log_lines.parse(line)
    assert (event["level"], event["msg"]) == ("error", "cannot serve")
    assert len(event["err"]) > 10 and event["err"].isprintable()
    return event["err"]


#: Becomes the program that its arguments name, behind the names and numbers of sockets, with these as systemd gives them:
#: from descriptor 3 on. Source: sd_listen_fds(3).
ACTIVATE = """
import os, sys
names, numbers = sys.argv[1], []
rest = sys.argv[2:]
while rest[0].isdigit():
    numbers.append(int(rest.pop(0)))
moved = [os.dup(number) for number in numbers]  # out of the way of each other
while min(moved) < 3 + len(moved):
    moved = [os.dup(number) for number in moved]
for number in {int(each) for each in sys.argv[2:2 + len(numbers)]}:
    os.set_inheritable(number, False)
for place, number in enumerate(moved):
    os.dup2(number, 3 + place, inheritable=True)
os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS=str(len(moved)), LISTEN_FDNAMES=names)
os.execv(rest[0], rest)
"""


class _Gate:
    """A running gate on a free port, unless flags say otherwise; __init__ returns when it listens.

    `listen`: the flag's value; None leaves it to the configuration file. `environment`: in addition to the test's own.
    `authority`: the file of the CA that its certificate is of, if it speaks TLS.
    """

    def __init__(self, *flags, listen="127.0.0.1:0", environment=None, config_file=None, authority=None, **how):
        if config_file:
            flags = (f"--config.file={config_file}", *flags)
        if listen and not any(flag.startswith("--listen=") for flag in flags):
            flags = (f"--listen={listen}", *flags)
        self.config_file = config_file
        self._tls = ssl.create_default_context(cafile=authority) if authority else None
        self.crashed = False
        self._log = []
        self._start(flags, environment or {}, **how)
        try:
            self.address, self.admin_address = eventually(self._addresses, "a log line with listen=127.0.0.1:PORT", 60)
        except AssertionError as error:
            self.kill()
            raise AssertionError(f"{error}\n{self.log}") from None
        self.url = f"http{'s' if authority else ''}://127.0.0.1:{self.address[1]}"  # unless it listens at a path

    # --- talking to it

    def send(self, body, headers=(), path=client.WRITE):
        return client.send(self.address, body, headers, path, self._tls)

    def get(self, path):
        """Of what is for people, wherever that is."""
        return client.get(self.admin_address, path, self._tls)

    def post(self, path):
        with client.Client(self.admin_address, tls=self._tls) as connection:
            return connection.request("POST", path)

    def reload(self, text):
        """Rewrites the configuration file and asks for a reload. @return the answer"""
        self.config_file.write_text(text)
        return self.post("/-/reload")

    def client(self):
        return client.Client(self.address, tls=self._tls)

    def raw(self):
        return client.RawConnection(self.address)

    @property
    def stats(self):
        reply = self.get("/stats")
        assert reply.status == 200, reply
        return json.loads(reply.body)

    @property
    def metrics(self):
        """/metrics as {(name, frozenset of label pairs): value}."""
        reply = self.get("/metrics")
        assert reply.status == 200, reply
        return exposition.parse(reply.body)

    def metric(self, name, **labels):
        """One sample; None if there is no such."""
        return self.metrics.get((name, frozenset(labels.items())))

    def current(self, window="hourly"):
        return self.stats["windows"][window]["currentSeries"]

    # --- its life

    @property
    def log(self):
        return self.log_bytes.decode(errors="replace")

    @property
    def log_bytes(self):
        return b"".join(self._log)

    @property
    def events(self):
        """What it has said, {key: value} each, in order. Every line has to be one event."""
        return [log_lines.parse(line) for line in self.log.split("\n")[:-1]]

    def said(self, message, **fields):
        """The events with this message, and with these fields: of all that has happened, though the gate's answers do not wait
        for its log, nor does it for whoever reads that."""
        self._await_quiet()
        return [event for event in self.events
                if event["msg"] == message and all(event.get(key) == value for key, value in fields.items())]

    @property
    def errors(self):
        self._await_quiet()
        return [event for event in self.events if event["level"] == "error"]

    def stop(self):
        """SIGTERM, and it has to end well: exit status 0 and no sanitizer report."""
        if self.crashed:
            return
        if self.running:
            self.signal()
        try:
            status = self.wait()
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError(f"did not end on SIGTERM\n{self.log}") from None
        assert status == 0, f"exit status {status}\n{self.log}"
        assert not SANITIZER_REPORT.search(self.log), self.log
        assert self.events

    def crash(self):
        """SIGKILL, as part of the test."""
        self.crashed = True
        self.kill()
        assert not SANITIZER_REPORT.search(self.log), self.log

    def _addresses(self):
        """Where senders and where people connect: (host, port), or the path of a unix socket."""
        if not self.running:
            raise AssertionError(f"exited with status {self.wait(1)} before it listened")
        found = LISTENING.search(self.log)
        return found and tuple(_address(text) for text in found.groups())


class ProcessGate(_Gate):
    """The binary, in a process of its own.

    `descriptors`: how many it may have open. `given`: {name: a socket that listens}, which it gets as from systemd. `binary`:
    another release's.
    """

    def _start(self, flags, environment, descriptors=None, given=None, binary=BINARY):
        limited = ["prlimit", f"--nofile={descriptors}"] if descriptors else []  # becomes the gate: the same process
        numbers = [each.fileno() for each in (given or {}).values()]
        activated = [sys.executable, "-c", ACTIVATE, ":".join(given), *map(str, numbers)] if given else []
        everything = {**os.environ, "TZ": "NPT-5:45", **environment}  # what it says is in UTC, wherever it runs
        self.process = subprocess.Popen([*limited, *activated, binary, *flags], stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, env=everything, pass_fds=numbers)
        self._readers = [threading.Thread(target=self._read, args=(pipe,), daemon=True)
                         for pipe in (self.process.stderr, self.process.stdout)]
        for reader in self._readers:
            reader.start()

    @property
    def running(self):
        return self.process.poll() is None

    @property
    def pid(self):
        return self.process.pid

    def open_files(self):
        """What its descriptors are of, without those that are closed meanwhile: UBSan opens pipes now and then."""
        for each in Path(f"/proc/{self.pid}/fd").iterdir():
            with contextlib.suppress(FileNotFoundError):
                yield os.readlink(each)

    def signal(self, number=signal.SIGTERM):
        self.process.send_signal(number)

    def wait(self, seconds=30):
        """Waits for the process to end by itself. @return its exit status"""
        status = self.process.wait(seconds)
        for reader in self._readers:
            reader.join(5)
        return status

    def kill(self):
        """For a test that has failed already."""
        self.process.kill()
        self.process.wait()

    def _await_quiet(self, quiet=8, at_most=50, every=0.01):
        """Until no line has come for a moment: so many looks, for while the whole machine stands still nobody is quiet."""
        seen, same = -1, 0
        for _ in range(at_most):
            if same == quiet or not self.running:
                break
            same = same + 1 if seen == len(self._log) else 0
            seen = len(self._log)
            time.sleep(every)

    def _read(self, pipe):
        for line in pipe:
            if not line.startswith(b"NWRAP_"):  # what the library of faked_names.py has to say, now and then
                self._log.append(line)


class SimulatedGate(_Gate):
    """The same gate without its main(), on a network in memory, by a clock that stands still."""

    def _start(self, flags, environment):
        self._stage = simulated.STAGE
        assert self._stage.gate_state != "runs", "a simulation has one gate at a time"
        self._stage.log = self._log
        text = [*map(str, flags), "", *(f"{name}={value}" for name, value in environment.items())]
        outcome, told = self._stage.ask("start", payload=b"".join(each.encode() + b"\0" for each in text))
        self._log += [told] if told else []
        self._status = None if outcome == "ok" else int(outcome)

    @property
    def pid(self):
        """For /proc, of all that the simulation has. It stays when this gate ends."""
        return self._stage.pid

    @property
    def running(self):
        if self._status is None and self._stage.gate_state == "ended":
            self._status = 0
        return self._status is None

    def signal(self, number=signal.SIGTERM):
        self._stage.ask("signal", "HUP" if number == signal.SIGHUP else "TERM")

    def wait(self, seconds=30):
        if not self._stage.wait(lambda: not self.running, seconds):
            raise subprocess.TimeoutExpired("the simulated gate", seconds)
        return self._status

    def kill(self):
        if self.running:
            self._status = -9
            self._stage.ask("signal", "KILL")

    def _await_quiet(self):
        self._stage.run_ready()


Gate = SimulatedGate if SIMULATED else ProcessGate

LISTENING = re.compile(r'"?\blisten"?[=:]"?([^\s",]+)"?[\s,]+"?admin_listen"?[=:]"?([^\s",]+)')


def _address(text):
    if text.startswith("unix:"):
        return text.removeprefix("unix:")
    host, port = text.rsplit(":", 1)
    return (host, int(port))
