"""Starts the real binary, knows its port, and stops it: the exit status is part of every test."""

import json
import os
import re
import signal
import subprocess
import threading
from pathlib import Path

import client
from waiting import eventually

REPOSITORY = Path(__file__).resolve().parent.parent.parent
BINARY = Path(os.environ.get("SERIESGATE_BIN", REPOSITORY / "build/release/seriesgate")).resolve()

SANITIZER_REPORT = re.compile(r"ERROR: \w+Sanitizer|WARNING: ThreadSanitizer|runtime error:")


def run(*flags, seconds=30):
    """Runs the binary to its end, for command lines that are not meant to serve."""
    return subprocess.run([BINARY, *flags], capture_output=True, text=True, timeout=seconds)


class Gate:
    """A running seriesgate on a free port, unless flags say otherwise; __init__ returns when it listens."""

    def __init__(self, *flags):
        if not any(flag.startswith("--listen=") for flag in flags):
            flags = ("--listen=127.0.0.1:0", *flags)
        self.process = subprocess.Popen([BINARY, *flags], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        encoding="utf-8", errors="replace")
        self._log = []
        self._readers = [threading.Thread(target=self._read, args=(pipe,), daemon=True)
                         for pipe in (self.process.stderr, self.process.stdout)]
        for reader in self._readers:
            reader.start()
        try:
            port = eventually(self._port, "a log line `listening on 127.0.0.1:PORT`")
        except AssertionError as error:
            self.kill()
            raise AssertionError(f"{error}\n{self.log}") from None
        self.address = ("127.0.0.1", port)
        self.url = f"http://127.0.0.1:{port}"

    # --- talking to it

    def send(self, body, headers=(), path=client.WRITE):
        return client.send(self.address, body, headers, path)

    def get(self, path):
        return client.get(self.address, path)

    def client(self):
        return client.Client(self.address)

    def raw(self):
        return client.RawConnection(self.address)

    @property
    def stats(self):
        reply = self.get("/stats")
        assert reply.status == 200, reply
        return json.loads(reply.body)

    def current(self, window="hourly"):
        return self.stats["windows"][window]["currentSeries"]

    # --- its life

    @property
    def log(self):
        return "".join(self._log)

    @property
    def running(self):
        return self.process.poll() is None

    def signal(self, number=signal.SIGTERM):
        self.process.send_signal(number)

    def wait(self, seconds=30):
        """Waits for the process to end by itself. @return its exit status"""
        status = self.process.wait(seconds)
        for reader in self._readers:
            reader.join(5)
        return status

    def stop(self):
        """SIGTERM, and it has to end well: exit status 0 and no sanitizer report."""
        if self.running:
            self.signal()
        try:
            status = self.wait()
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError(f"did not end on SIGTERM\n{self.log}") from None
        assert status == 0, f"exit status {status}\n{self.log}"
        assert not SANITIZER_REPORT.search(self.log), self.log

    def kill(self):
        """For a test that has failed already."""
        self.process.kill()
        self.process.wait()

    def _read(self, pipe):
        for line in pipe:
            self._log.append(line)

    def _port(self):
        if self.process.poll() is not None:
            raise AssertionError(f"exited with status {self.process.returncode} before it listened")
        found = re.search(r"listening on 127\.0\.0\.1:(\d+)", self.log)
        return int(found.group(1)) if found else None
