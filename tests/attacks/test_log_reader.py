"""Who reads the log stops, or goes: requests are answered all the same, and what is lost is counted and told of."""

import os
import re
import signal
import subprocess

import pytest

import client
import exposition
import log_lines
import recorded
from gate import BINARY, SANITIZER_REPORT
from waiting import eventually

GOOD = recorded.bodies("metadata-v1")[0]
CONFIG = "log: {level: debug, format: %s}\nserver: {threads: 1}\n"  # a line for each request


class UnreadGate:
    """A gate with a log, a pipe or a terminal, of which only the first line has been read."""

    def __init__(self, folder, form, opens=os.pipe):
        file = folder / "gate.yaml"
        file.write_text(CONFIG % form)
        reading, writing = opens()
        self.process = subprocess.Popen([BINARY, f"--config.file={file}", "--upstream.url=discard:",
                                         "--listen=127.0.0.1:0"], stderr=writing, stdin=subprocess.DEVNULL)
        os.close(writing)
        self.log = os.fdopen(reading, "rb")
        first = self.log.readline().decode()
        self.address = ("127.0.0.1", int(re.search(r"127\.0\.0\.1:(\d+)", first)[1]))

    def ask(self, count):
        """So many requests with a long path: half a kilobyte of log each."""
        with client.Client(self.address) as connection:
            for at in range(count):
                reply = connection.request("GET", f"/-/healthy?{at}", headers=[("X-Scope-OrgID", "t" * 500)])
                assert reply.status == 200

    def lost(self):
        reply = client.get(self.address, "/metrics")
        return exposition.parse(reply.body)["seriesgate_log_lines_lost_total", frozenset()]

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(30)


@pytest.fixture
def unread(tmp_path, request):
    """What differs from a pipe and logfmt, a test says as its parameter."""
    gate = UnreadGate(tmp_path, **getattr(request, "param", {"form": "logfmt"}))
    yield gate
    gate.process.kill()
    gate.process.wait()
    gate.log.close()


@pytest.mark.parametrize("unread", [{"form": "logfmt"}, {"form": "json"}], ids=["logfmt", "json"], indirect=True)
def test_a_reader_that_stops_holds_nobody_up(unread):
    unread.ask(3000)
    lost = unread.lost()
    assert lost > 100
    assert client.send(unread.address, GOOD).status == 204
    # It reads again: all lines are whole, and one says how many are missing.
    events = [log_lines.parse(unread.log.readline().decode()) for _ in range(500)]
    assert {event["msg"] for event in events} == {"request answered"}
    unread.ask(1)
    while (event := log_lines.parse(unread.log.readline().decode()))["msg"] == "request answered":
        events.append(event)
    assert event["msg"] == "lines of the log were lost, who reads it is too slow"
    assert int(event["lines"]) >= lost
    assert unread.stop() == 0
    rest = unread.log.read().decode()
    assert not SANITIZER_REPORT.search(rest)
    assert [log_lines.parse(line)["msg"] for line in rest.splitlines()][-2:] == ["draining", "stopped"]


def test_a_reader_that_has_gone_is_no_reason_to_end(unread):
    unread.log.close()
    unread.ask(50)
    assert client.send(unread.address, GOOD).status == 204
    eventually(lambda: unread.lost() >= 50, "all of them are lost")
    assert unread.stop() == 0


@pytest.mark.parametrize("unread", [{"form": "logfmt", "opens": os.openpty}], ids=["terminal"], indirect=True)
def test_a_terminal_that_nobody_reads_does_not_keep_the_gate_from_ending(unread):
    """A write to a terminal may wait although it was said to be ready."""
    unread.ask(200)
    assert unread.stop() == 0
